"""What an operation of a sweep is, and one example of it; careful that an example can be printed, and that every type is asked the same numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gradarbiter.core import Array

if TYPE_CHECKING:
    from harness.sweep.draw import Draw

LAYOUTS = {
    "contiguous": "its own buffer, row after row",
    "transposed": "the last two axes of a buffer swapped",
    "strided": "every second number of a buffer's last axis",
    "offset": "a buffer without its first row",
    "broadcast": "one row of a buffer, seen again in each row",
}
USES = {"once": "f(x)", "twice": "f(x) + f(x)", "chain": "f(x / 2 + x / 2)"}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The arguments of one call: tensors (floats as float64, ids and masks as they are) and attributes, which JSON can hold."""

    tensors: Mapping[str, Array]
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class Op:
    """One operation: `forward` is its definition in float64 NumPy, `takes` draws its arguments.

    ``dtypes``: of its floats, or of its whole numbers where they are what it computes. ``roundings``: roundings in series of an implementation that
    composes it of elementary operations; what a type is allowed follows from it (harness/sweep/reference.py). ``terms``: numbers in its longest sum.
    ``gradient``: whether it has one. ``cancels``: input -> size of the terms that a standard backward subtracts from each other, where it is larger than
    the result; ``y``: that of a standard forward. ``slack``: an allowed error of the output that is no rounding, such as that of a statistic, with its
    derivation beside it. ``invalid``: arguments that only a refusal answers rightly. ``documented``: framework -> (link, why, forward), another definition.
    ``explained``: mutant pattern -> why it may survive.
    ``held``: where a part of it is held constant (detached, a row that is padding), tensors -> the function of the same arguments that is differentiated at
    them.
    """

    forward: Callable[..., Array]
    takes: Callable[[Draw], Asked]
    claim: str = ""
    dtypes: Sequence[str] = ("float64", "float32", "bfloat16", "float16")
    gradient: bool = True
    roundings: int = 4
    terms: Callable[[Asked], int] = lambda _: 1
    cancels: Callable[[Asked, Array], Mapping[str, Array]] = lambda _, __: {}
    slack: Callable[[Asked], Array | float] = lambda _: 0.0
    invalid: Callable[[Asked], bool] = lambda _: False
    documented: Mapping[str, tuple[str, str, Callable[..., Array]]] = field(default_factory=dict)
    explained: Mapping[str, str] = field(default_factory=dict)
    held: Callable[[Mapping[str, Array]], Callable[..., Array]] | None = None


@dataclass(frozen=True, kw_only=True)
class Example:
    """One way to ask an operation."""

    asked: Asked
    dtype: str
    layouts: Mapping[str, str]  # tensor -> layout
    use: str
    upstream: Array  # of the output's shape: the gradient that flows into it
    invalid: bool = False  # only a refusal answers it rightly
    turn: int = 0  # of the drawing that made it
    view: bool = False  # asks no operation: the view alone, through which an operation sees its tensor

    @cached_property
    def key(self) -> str:
        """The same text for the same question; also what a person reads of it."""
        tensors = {name: [*value.shape, value.dtype.str, value.ravel().tolist()] for name, value in self.asked.tensors.items()}
        return json.dumps(
            [self.dtype, self.use, dict(self.layouts), dict(self.asked.attributes), tensors, self.upstream.ravel().tolist(), self.view]
        )

    @property
    def floats(self) -> list[str]:
        return [name for name, value in self.asked.tensors.items() if np.issubdtype(value.dtype, np.floating)]

    def buffer(self, name: str) -> Array:
        """What the framework is given of a tensor: the buffer that a view is made of, in a chain half of it."""
        value = self.asked.tensors[name]
        return carrier(value / 2 if self.use == "chain" and name in self.floats else value, self.layouts[name])

    def listed(self) -> dict[str, Any]:
        """What a child needs beside the tensors."""
        shapes = {name: list(value.shape) for name, value in self.asked.tensors.items()}
        return {
            "tensors": shapes,
            "floats": self.floats,
            "layouts": dict(self.layouts),
            "use": self.use,
            "attributes": dict(self.asked.attributes),
        }

    def written(self, longest: int) -> str:
        """The example in JSON, a tensor of one number as that number; nothing where it would be too long: it can be drawn again."""
        tensors = {
            name: {
                "shape": list(v.shape),
                "dtype": str(v.dtype),
                "all" if _same(v) else "values": v.ravel()[0].item() if _same(v) else v.tolist(),
            }
            for name, v in self.asked.tensors.items()
        }
        text = json.dumps({**self.listed(), "dtype": self.dtype, "tensors": tensors, "upstream": self.upstream.tolist()})
        return text if len(text) <= longest else ""

    def told(self) -> str:
        """In one line: what a record and the page say of it."""
        shapes = ", ".join(f"{name} {list(value.shape)}" for name, value in self.asked.tensors.items())
        odd = [f"{name} {layout}" for name, layout in self.layouts.items() if layout != "contiguous"]
        attributes = ", ".join(f"{name}={value}" for name, value in self.asked.attributes.items())
        return "; ".join(filter(None, (self.dtype, shapes, attributes, ", ".join(odd), USES[self.use] if self.use != "once" else "")))


def _same(value: Array) -> bool:
    return value.size > 1 and bool(np.all(value == value.ravel()[0]))


def carrier(value: Array, layout: str) -> Array:
    """The buffer whose view of that layout is ``value``; what is outside of the view is 99, so that reading it shows."""
    if layout == "transposed":
        return np.ascontiguousarray(value.swapaxes(-1, -2))
    if layout == "strided":
        buffer = np.full((*value.shape[:-1], 2 * value.shape[-1]), 99, dtype=value.dtype)
        buffer[..., ::2] = value
        return buffer
    if layout == "offset":
        return np.concatenate([np.full_like(value[:1], 99), value])
    if layout == "broadcast":
        return value[:1].copy()
    return value


def carried(gradient: Array, layout: str) -> Array:
    """The gradient of the buffer, from the gradient of the view."""
    if layout == "transposed":
        return gradient.swapaxes(-1, -2)
    if layout == "strided":
        buffer = np.zeros((*gradient.shape[:-1], 2 * gradient.shape[-1]))
        buffer[..., ::2] = gradient
        return buffer
    if layout == "offset":
        return np.concatenate([np.zeros_like(gradient[:1]), gradient])
    if layout == "broadcast":
        summed: Array = gradient.sum(axis=0, keepdims=True)
        return summed
    return gradient


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A family of operations: a case whose items are `Op`s, asked in one process each and judged by harness/sweep."""

    claim: str
    failure: str
    items: Mapping[str, Op]
    limit_s: float = 60.0  # of all examples of an item in one process
    limit_gb: float = 4.0
