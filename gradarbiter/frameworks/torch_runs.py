"""What memory_growth and safeguard need of torch: living tensors and their graphs, a gradient that is not finite; careful to touch no module."""

from __future__ import annotations

import contextlib
import gc
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

KINDS = (Tensor, nn.Parameter)  # by exact type: isinstance would wake lazy modules


def census() -> dict[str, int]:
    """Bytes of all tensors that Python can reach, by type and shape; nodes of the graphs that hang on them; bytes allocated on GPUs."""
    gc.collect()
    found: Counter[str] = Counter()
    seen: set[int] = set()
    roots = []
    for x in gc.get_objects():
        if type(x) not in KINDS or x.device.type == "meta" or x.layout is not torch.strided:
            continue
        storage = x.untyped_storage()
        if storage.data_ptr() not in seen:
            seen.add(storage.data_ptr())
            found[f"bytes of {str(x.dtype).removeprefix('torch.')}{tuple(x.shape)}"] += storage.nbytes()
        if x.grad_fn is not None:
            roots.append(x.grad_fn)
    found["graph nodes"] = _nodes(roots)
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        found["bytes on GPUs"] = sum(torch.cuda.memory_allocated(device) for device in range(torch.cuda.device_count()))
    return dict(found)


def _nodes(roots: list[Any]) -> int:
    seen, waiting = set(roots), list(roots)
    while waiting:
        for following, _ in waiting.pop().next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                waiting.append(following)
    return len(seen)


@contextlib.contextmanager
def poisoned(model: nn.Module, name: str, value: float) -> Iterator[Callable[[], bool]]:
    """The first element of every gradient that reaches the parameter is ``value``; what is yielded says whether one did."""
    fired = []

    def spoil(gradient: Tensor) -> Tensor:
        fired.append(True)
        spoiled = gradient.clone()
        spoiled.view(-1)[0] = value
        return spoiled

    handle = model.get_parameter(name).register_hook(spoil)
    try:
        yield lambda: bool(fired)
    finally:
        handle.remove()


def states(subject: Any) -> Iterator[tuple[str, str, Tensor]]:
    """Parameter, entry and tensor of everything that the subject's optimizers remember."""
    names = {id(p): name for name, p in subject._named.items()}  # noqa: SLF001  TorchSubject's other half
    for optimizer in subject._optimizers.values():  # noqa: SLF001
        for p, entries in optimizer.state.items():
            for key, value in entries.items():
                if isinstance(value, Tensor):
                    yield names.get(id(p), "a parameter that is not the model's"), key, value


def bad_states(subject: Any) -> list[str]:
    """Entries of optimizer states that are not finite."""
    return [f"{name}/{key}" for name, key, value in states(subject) if not bool(torch.isfinite(value).all())]
