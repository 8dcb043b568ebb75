"""Every module of a torch model beside its float64 copy, for low_precision; careful to change no computation.

Each module is compared on its own inputs, widened, so that an error is charged to the module that makes it and not to those that inherit it.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from gradarbiter import batch as batches
from gradarbiter.bits import narrowed

SAMPLE = 4096  # values of an output that are looked at for their bits
Wide = dict[str, list[Tensor]]


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One call of one module. Errors are relative, of the norm; ``own`` is that on its own inputs, ``rounding`` what moving these and its weights by one unit
    roundoff does, None where the module cannot be called alone. ``bits``: 8 or 11 where the output went through so few and nothing that came in did.
    """

    name: str
    dtype: str
    unit: float
    error: float
    own: float | None
    rounding: float
    terms: int
    children: int
    finite: bool
    wide_finite: bool
    bits: int | None
    inner_bits: bool  # they came in from between modules
    autocast: bool


def bits(dtype: torch.dtype) -> float:
    """Of the significand."""
    return 1 - math.log2(torch.finfo(dtype).eps)


def sizes(model: nn.Module, call: Callable[[], Any]) -> int:
    """Elements of all modules' outputs, in one call."""
    count = [0]

    def add(_module: nn.Module, _inputs: Any, out: Any) -> None:
        if (tensor := first(out)) is not None:
            count[0] += tensor.numel()

    with hooked(model, lambda _name, module: [module.register_forward_hook(add)]):
        call()
    return count[0]


def wide_outputs(model: nn.Module, call: Callable[[], Any]) -> Wide:
    found: Wide = {}

    def keep(name: str, module: nn.Module) -> list[Any]:
        def hook(_module: nn.Module, _inputs: Any, out: Any) -> None:
            if (tensor := first(out)) is not None:
                found.setdefault(name, []).append(tensor.detach())

        return [module.register_forward_hook(hook)]

    with hooked(model, keep):
        call()
    return found


@dataclass
class Beside:
    """The narrow model called with every module beside the wide one's."""

    model: nn.Module
    wide: nn.Module
    outputs: Wide
    seen: list[Seen] = field(default_factory=list)
    calls: dict[str, int] = field(default_factory=dict)
    narrow: set[int] = field(default_factory=set)  # where tensors are whose bits were reported already

    def run(self, call: Callable[[], Any]) -> list[Seen]:
        self.copies = dict(self.wide.eval().named_modules())
        # Weights that were loaded from a narrower file have few bits, and what is looked up in them.
        self.meant = {_few(p) for p in self.model.parameters() if p.is_floating_point()}
        with hooked(self.model, self._hook):
            call()
        return self.seen

    def _hook(self, name: str, module: nn.Module) -> list[Any]:
        def hook(_module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> None:
            if (tensor := first(out)) is not None:
                self._look(name, module, args, kwargs, tensor)

        if name:
            return [module.register_forward_hook(hook, with_kwargs=True)]

        def remember(_module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            self.meant |= {_few(leaf) for leaf in floats((args, kwargs))}

        return [module.register_forward_pre_hook(remember, with_kwargs=True), module.register_forward_hook(hook, with_kwargs=True)]

    def _look(self, name: str, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], out: Tensor) -> None:
        call = self.calls[name] = self.calls.get(name, -1) + 1
        wide = self.outputs.get(name, [])
        autocast = autocast_type(out)
        dtypes = [p.dtype for p in module.parameters()] + [x.dtype for x in floats((args, kwargs))] + [out.dtype]
        unit = max(torch.finfo(d).eps for d in [*dtypes, *([autocast] if autocast else [])] if d.is_floating_point) / 2
        own, rounding, wide_finite = self._own(self.copies[name], args, kwargs, out, unit)
        few, inner = self._bits(module, args, kwargs, out)
        self.seen.append(
            Seen(
                name=name or "the model",
                dtype=str(out.dtype).removeprefix("torch."),
                unit=unit,
                error=relative(out, wide[call]) if call < len(wide) else math.nan,
                own=own,
                rounding=rounding,
                terms=max(
                    [p[0].numel() for p in module.parameters() if p.ndim > 1]
                    + [x.shape[-1] for x in floats((args, kwargs)) if x.ndim]
                    + [1]
                ),
                children=sum(1 for _ in module.modules()),
                finite=bool(torch.isfinite(out).all()),
                wide_finite=wide_finite,
                bits=few,
                inner_bits=inner,
                autocast=autocast is not None,
            )
        )

    def _own(self, copy: nn.Module, args: Any, kwargs: Any, out: Tensor, unit: float) -> tuple[float | None, float, bool]:
        def call(noise: float) -> Tensor | None:
            generator = torch.Generator(device=out.device).manual_seed(0)
            with contextlib.ExitStack() as stack:
                if noise:
                    stack.enter_context(_perturbed(copy, noise, generator))
                stack.enter_context(torch.no_grad())
                given, named = batches.mapped(
                    (args, kwargs), lambda _, x: _noisy(x.detach().double(), noise, generator) if is_float(x) else x
                )
                return first(copy(*given, **named))

        try:
            plain, moved = call(0.0), call(unit)
        except (RuntimeError, TypeError, ValueError):  # not to be called alone in float64
            return None, 0.0, True
        if plain is None or moved is None or plain.shape != out.shape:
            return None, 0.0, True
        return relative(out, plain), relative(moved, plain), bool(torch.isfinite(plain).all())

    def _bits(self, module: nn.Module, args: Any, kwargs: Any, out: Tensor) -> tuple[int | None, bool]:
        """Only float32 and wider carry bits that they need not have; what the module was given with few may come out with few."""
        for x in floats((args, kwargs)):
            if x.data_ptr() not in self.narrow and (few := self._unmeant(x)):
                self.narrow.add(x.data_ptr())
                return few, True
        few = self._unmeant(out)
        if few:
            self.narrow.add(out.data_ptr())
        sources = [*floats((args, kwargs)), *module.parameters()]
        known = any(x.is_floating_point() and (bits(x.dtype) <= (few or 0) or _few(x)) for x in sources)
        return (None if known or not sources else few), False

    def _unmeant(self, x: Tensor) -> int | None:
        few = _few(x) if x.dtype in (torch.float32, torch.float64) else None
        return None if few in self.meant else few


def first_not_finite(model: nn.Module, call: Callable[[], Any]) -> str:
    """The first module to finish with an output that is not finite; empty if none."""
    found: list[str] = []

    def look(name: str, module: nn.Module) -> list[Any]:
        def hook(_module: nn.Module, _inputs: Any, out: Any) -> None:
            if (tensor := first(out)) is not None and not bool(torch.isfinite(tensor).all()):
                found.append(name or "the model")

        return [module.register_forward_hook(hook)]

    with hooked(model, look):
        call()
    return found[0] if found else ""


def first(out: Any) -> Tensor | None:
    """The tensor of an output that has several: the first of a floating type."""
    return next((leaf for _, leaf in batches.leaves(_plain(out)) if is_float(leaf)), None)


def floats(given: Any) -> list[Tensor]:
    return [leaf for _, leaf in batches.leaves(given) if is_float(leaf)]


def relative(found: Tensor, wanted: Tensor) -> float:
    """NaN where either is not finite."""
    size = float(wanted.double().norm())
    error = float((found.detach().double() - wanted.detach().double()).norm())
    return error / size if size else (0.0 if error == 0 else math.inf)


def _few(x: Tensor) -> int | None:
    flat = x.detach().flatten()
    return narrowed(flat[:: max(1, flat.numel() // SAMPLE)].double().cpu().numpy())


def is_float(x: Any) -> bool:
    return isinstance(x, Tensor) and x.is_floating_point()


def _plain(out: Any) -> Any:
    return dict(out) if hasattr(out, "keys") else out


def _noisy(x: Tensor, noise: float, generator: torch.Generator) -> Tensor:
    return x if not noise else x * (1 + noise * (2 * torch.rand(x.shape, generator=generator, dtype=x.dtype, device=x.device) - 1))


@contextlib.contextmanager
def _perturbed(module: nn.Module, noise: float, generator: torch.Generator) -> Iterator[None]:
    before = [p.detach().clone() for p in module.parameters()]
    with torch.no_grad():
        for p in module.parameters():
            p.copy_(_noisy(p, noise, generator))
    try:
        yield
    finally:
        with torch.no_grad():
            for p, old in zip(module.parameters(), before, strict=True):
                p.copy_(old)


def autocast_type(near: Tensor) -> torch.dtype | None:
    kind = near.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else None


@contextlib.contextmanager
def hooked(model: nn.Module, hooks: Callable[[str, nn.Module], list[Any]]) -> Iterator[None]:
    handles = [handle for name, module in model.named_modules() for handle in hooks(name, module)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
