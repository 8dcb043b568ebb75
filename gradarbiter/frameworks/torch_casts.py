"""Every cast to a narrower type in a step of a torch model, by the module whose code does it; careful to tell what was asked for from what was not."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from gradarbiter.frameworks.torch_precision import autocast_type, bits, floats, hooked, is_float

GRADIENT = "gradient"  # the class of a cast that is of a parameter's gradient


@dataclass(frozen=True, kw_only=True)
class Cast:
    """Values that a cast to a narrower type changed. ``where``: the module whose code did it, "loss_fn" outside of all, or a parameter's gradient.
    ``kind``: the module's class.
    """

    where: str
    kind: str
    before: str
    after: str
    changed: int
    size: int


class Casts(TorchDispatchMode):  # type: ignore[misc]  # torch is not in mypy's environment
    """Casts to a narrower type that were asked for by no one: not by autocast, not by the type of a parameter or of an input of the module."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.found: dict[tuple[str, str], Cast] = {}
        self.autocast = False  # seen anywhere
        self._inside: list[tuple[str, nn.Module, list[torch.dtype], bool]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        if func in (torch.ops.aten._to_copy.default, torch.ops.aten.copy_.default):  # noqa: SLF001  the name of the operator
            self._cast(args[1] if func is torch.ops.aten.copy_.default else args[0], out)
        return out

    def _cast(self, before: Tensor, after: Tensor) -> None:
        if not (is_float(before) and is_float(after)) or before.shape != after.shape:
            return
        if bits(after.dtype) >= min(bits(before.dtype), bits(torch.float32)):  # float64 to float32 is what a loss in a float64 copy does
            return
        changed = int((after.to(before.dtype) != before).sum())
        where, kind = self._where(before, after) if changed else ("", "")
        if not where:
            return
        to = str(after.dtype).removeprefix("torch.")
        earlier = self.found.get((where, to))
        self.found[where, to] = Cast(
            where=where,
            kind=kind,
            before=str(before.dtype).removeprefix("torch."),
            after=to,
            changed=changed + (earlier.changed if earlier else 0),
            size=before.numel() + (earlier.size if earlier else 0),
        )

    def _where(self, before: Tensor, after: Tensor) -> tuple[str, str]:
        """Name and class of what did the cast; empty where it was asked for."""
        for name, p in self.model.named_parameters():
            if p.grad is not None and p.grad.data_ptr() == before.data_ptr():
                return name, GRADIENT
        if torch._C._current_graph_task_id() != -1:  # noqa: SLF001  in a backward pass, which mirrors the casts of the forward pass
            return "", ""
        name, module, inputs, autocast = (
            self._inside[-1] if self._inside else ("loss_fn", self.model, [], autocast_type(before) is not None)
        )
        asked = autocast or any(
            bits(d) <= bits(after.dtype) for d in [*inputs, *(p.dtype for p in module.parameters())] if d.is_floating_point
        )
        return ("", "") if asked else (name or "the model", type(module).__name__ if self._inside else "loss_fn")

    @contextlib.contextmanager
    def watching(self) -> Iterator[Casts]:
        def enter(name: str, module: nn.Module) -> list[Any]:
            def before(_module: nn.Module, args: Any, kwargs: Any) -> None:
                inside = [x.dtype for x in floats((args, kwargs))]
                autocast = autocast_type(next(module.parameters(), torch.empty(0))) is not None
                self.autocast |= autocast
                self._inside.append((name, module, inside, autocast))

            def after(_module: nn.Module, _args: Any, _out: Any) -> None:
                self._inside.pop()

            return [module.register_forward_pre_hook(before, with_kwargs=True), module.register_forward_hook(after, always_call=True)]

        with hooked(self.model, enter), self:
            yield self
