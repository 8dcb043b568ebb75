"""In which dtype PyTorch code computes: found out, or float64 throughout; careful that a dtype which the code names itself (`x.float()`) is widened too."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

NARROW = (torch.float32, torch.bfloat16, torch.float16)
DRAWN = ("randn", "rand", "randn_like", "rand_like")
DRAWN_IN_PLACE = ("normal_", "uniform_")


class _Wide(TorchDispatchMode):  # type: ignore[misc]  # torch is not where mypy runs
    """Below autograd, so that Python code in a backward pass (custom functions, checkpoints) is under it too."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Torch would import the compiler to keep it away from what is below. `_eager` does."""
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None) -> Any:
        given, name = dict(kwargs or {}), func.overloadpacket.__name__
        if name in DRAWN:  # in float64 the generator would give other numbers
            return func(*args, **{**given, "dtype": torch.float32}).double()
        if name in DRAWN_IN_PLACE:
            return args[0].copy_(func(torch.empty_like(args[0], dtype=torch.float32), *args[1:], **given))
        return func(*(_wide(value) for value in args), **{key: _wide(value) for key, value in given.items()})


@contextlib.contextmanager
def widened() -> Iterator[None]:
    """Autocast needs no care: it leaves float64 tensors alone."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with _eager(), _Wide():
            yield
    finally:
        torch.set_default_dtype(before)


def asked(model: nn.Module, call: Callable[[], Any]) -> str:
    """The dtype of matrix products: autocast's if a module of ``model`` runs under it during ``call``, else the narrowest trainable parameter's.

    On a GPU, float32 products may be TensorFloat-32's: of matrices if one asks for it, of convolutions and recurrent layers unless one asks not to.
    """
    found = {p.dtype for p in model.parameters() if p.requires_grad}
    kind = next(model.parameters()).device.type

    def hear(*_: Any) -> None:
        if torch.is_autocast_enabled(kind):
            found.add(torch.get_autocast_dtype(kind))

    handles = [module.register_forward_pre_hook(hear) for module in model.modules()]
    try:
        with _eager():
            call()
    finally:
        for handle in handles:
            handle.remove()
    widest_rounding = max(found, key=lambda dtype: torch.finfo(dtype).eps)
    if widest_rounding == torch.float32 and kind == "cuda":
        convolves = any(isinstance(module, nn.modules.conv._ConvNd | nn.RNNBase) for module in model.modules())  # noqa: SLF001
        if torch.get_float32_matmul_precision() != "highest" or (convolves and torch.backends.cudnn.allow_tf32):
            return "tensorfloat32"
    return str(widest_rounding).removeprefix("torch.")


def _eager() -> AbstractContextManager[Any]:
    """A compiled model runs as it was written: hooks and modes are not for graphs. Where nothing is, the compiler is not imported: it takes seconds."""
    if "torch._dynamo" not in sys.modules:
        return contextlib.nullcontext()
    stance: AbstractContextManager[Any] = torch.compiler.set_stance("force_eager")
    return stance


def _wide(value: Any) -> Any:
    return torch.float64 if isinstance(value, torch.dtype) and value in NARROW else value
