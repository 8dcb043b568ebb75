"""Batches of any nesting of dicts, lists, tuples and objects alike; careful that a batch is never changed, only copied with other leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Path = tuple[Any, ...]


def leaves(batch: Any, at: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every leaf that has a shape, with the keys that lead to it."""
    if isinstance(batch, Mapping):
        for key in batch:
            yield from leaves(batch[key], (*at, key))
    elif isinstance(batch, list | tuple):
        for i, part in enumerate(batch):
            yield from leaves(part, (*at, i))
    elif hasattr(batch, "shape"):
        yield at, batch


def mapped(batch: Any, change: Callable[[Path, Any], Any], at: Path = ()) -> Any:
    """A copy whose leaves are ``change(path, leaf)``; what has no shape stays."""
    if isinstance(batch, Mapping):
        made = {key: mapped(batch[key], change, (*at, key)) for key in batch}
        kind: Any = type(batch)
        return made if kind is dict else kind(made)  # transformers' BatchEncoding is made from a dict
    if isinstance(batch, list | tuple):
        parts = [mapped(part, change, (*at, i)) for i, part in enumerate(batch)]
        return type(batch)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)  # a named tuple takes its fields one by one
    return change(at, batch) if hasattr(batch, "shape") else batch
