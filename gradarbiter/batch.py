"""Batches of any nesting of dicts, lists, tuples and objects alike; careful that a batch is never changed, only copied with other leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gradarbiter.core import Array
from gradarbiter.result import NotAsked

Path = tuple[Any, ...]
TOKEN_KEYS = ("input_ids", "tokens", "ids", 0)


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


class Batched:
    """The part of a subject that is about its batch; an adapter says what one of its tensors is in NumPy, and makes one from NumPy like another."""

    batch: Any
    _tokens: Any  # the key of the token ids; None: found by name and shape

    def _numpy(self, leaf: Any) -> Array:
        raise NotImplementedError

    def _like(self, array: Array, leaf: Any) -> Any:
        raise NotImplementedError

    def tokens(self, batch: Any = None) -> Array:
        return self._token_leaf(self.batch if batch is None else batch)

    def with_tokens(self, ids: Array) -> Any:
        old = self._token_leaf(self.batch)
        # HF's labels are the ids once more: where a leaf equals the tokens, it stays equal to them.
        same = {at for at, leaf in leaves(self.batch) if tuple(leaf.shape) == old.shape and np.array_equal(self._read(leaf), old)}
        return mapped(self.batch, lambda at, leaf: self._made(ids, leaf) if at in same else leaf)

    def with_rows(self, index: Sequence[int]) -> Any:
        sizes = [leaf.shape[0] for _, leaf in leaves(self.batch) if len(leaf.shape)]
        if not sizes:
            raise NotAsked("the batch holds no tensor with a batch axis")
        rows = max(set(sizes), key=sizes.count)
        return mapped(
            self.batch,
            lambda _, leaf: self._made(self._read(leaf)[list(index)], leaf) if len(leaf.shape) and leaf.shape[0] == rows else leaf,
        )

    def _token_leaf(self, batch: Any) -> Array:
        found = [(at, self._read(leaf)) for at, leaf in leaves(batch) if len(leaf.shape) == 2]
        found = [(at, ids) for at, ids in found if ids.dtype.kind in "iu"]
        if self._tokens is not None:
            found = [(at, ids) for at, ids in found if at[-1:] == (self._tokens,)]
        elif len(found) > 1:
            found = [(at, ids) for at, ids in found if at[-1] in TOKEN_KEYS]
        if len(found) != 1:
            raise NotAsked(f"{len(found)} tensors in the batch could be the token ids: give tokens= with the key of one")
        return found[0][1]

    def _read(self, leaf: Any) -> Array:
        return leaf if isinstance(leaf, np.ndarray) else self._numpy(leaf)

    def _made(self, array: Array, leaf: Any) -> Any:
        return array.astype(leaf.dtype) if isinstance(leaf, np.ndarray) else self._like(array, leaf)
