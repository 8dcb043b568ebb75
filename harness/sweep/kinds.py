"""Samplers, one a kind of operation; careful that they know the kind and no operation: what one finds is not what somebody put in.

Elementwise operations and reductions are here; other kinds have a module each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradarbiter.core import Array
from harness.sweep.draw import Draw
from harness.sweep.op import Asked

Sampler = Callable[[Draw], Asked]
LONG = 1100  # more ones than bfloat16 (256) or float16 in halves can count; a sum of this length is slow in nothing

# Domain -> styles of its numbers, the simplest first, and a factor and a shift that bring them into it. Where a function has a pole or an edge, numbers are
# on it or further away than a difference is wide (1/128).
DOMAINS: dict[str, tuple[tuple[str, ...], float, float]] = {
    "line": (("grid", "normal", "small", "large", "zero", "nan", "inf"), 1, 0),
    "finite": (("grid", "normal", "small", "large", "zero", "nan"), 1, 0),
    "spread": (
        ("grid", "normal", "large", "zero", "nan", "inf"),
        1,
        0,
    ),  # not closer to each other than a difference, where an order may change
    "finite spread": (("grid", "normal", "large", "zero", "nan"), 1, 0),
    "plain": (("grid", "normal"), 1, 0),
    "moderate": (("grid", "normal", "small", "zero", "nan"), 1, 0),
    "nonzero": (("grid", "large", "zero", "nan", "inf"), 1, 0),
    "finite nonzero": (("grid", "large", "zero", "ties", "nan"), 1, 0),
    "base": (("grid", "ties", "large", "ties", "zero", "nan"), 1, 0),  # of a power: often 0
    "negative": (("positive", "nan"), -1, 0),
    "divisor": (("apart", "nan"), 1, 0),
    "positive": (("positive", "zero", "nan", "inf"), 1, 0),
    "unit": (("grid", "normal", "small", "zero", "nan"), 1 / 4, 0),
    "share": (("positive", "zero", "ties", "nan"), 1 / 2, 0),
    "above one": (("positive", "zero", "nan", "inf"), 1, 1),
    "exponent": (("whole", "grid", "normal", "nan"), 1, 0),
}


def numbers(d: Draw, domain: str, *shape: int) -> Array:
    """Of a domain, or a mask."""
    if domain == "mask":
        return d.mask(*shape)
    styles, factor, shift = DOMAINS[domain]
    return d.floats(*shape, styles=styles) * factor + shift


def elementwise(domain: str | Sequence[str] = "line", names: str | Sequence[str] = "x", **attributes: tuple[Any, ...]) -> Sampler:
    """One tensor or several of broadcastable shapes, without axes or numbers now and then; an attribute is one of its options."""

    def takes(d: Draw) -> Asked:
        shape = _sized(d, d.choose(d.shape(), d.shape(), d.shape(), ()))
        domains = [domain] * len(names) if isinstance(domain, str) else domain
        whole = d.choose(*range(len(names)))  # which of them has the shape of the result
        tensors = {
            name: numbers(d, its, *(shape if at == whole or 0 in shape else _broadcastable(d, shape)))
            for at, (name, its) in enumerate(zip(names, domains, strict=True))
        }
        return Asked(tensors=tensors, attributes={name: d.choose(*options) for name, options in attributes.items()})

    return takes


def _sized(d: Draw, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape, or more rarely one without numbers: an axis of 0."""
    empty = d.choose(*[False] * 9, True)
    at = d.whole(0, len(shape) - 1) if empty and shape else -1
    return tuple(0 if axis == at else size for axis, size in enumerate(shape))


def _broadcastable(d: Draw, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The same shape, one with an axis of 1, or one with fewer axes."""
    how = d.choose("same", "ones", "fewer")
    if how == "ones":
        return tuple(d.choose(size, 1) for size in shape)
    return shape[d.whole(0, len(shape)) :] if how == "fewer" else shape


def channelwise() -> Sampler:
    """``x`` [batch, channels, ...] and ``weight``, a number a channel or one for all."""

    def takes(d: Draw) -> Asked:
        shape = d.shape(low=2, high=4)
        return Asked(tensors={"x": numbers(d, "line", *shape), "weight": numbers(d, "plain", d.choose(shape[1], 1))})

    return takes


def halves() -> Sampler:
    """One tensor, and an axis of an even size."""

    def takes(d: Draw) -> Asked:
        shape = list(d.shape())
        axis = d.axis(len(shape))
        shape[axis] *= 2
        return Asked(tensors={"x": numbers(d, "line", *shape)}, attributes={"axis": axis})

    return takes


def reduction(
    domain: str = "spread",
    extra: tuple[str, ...] = (),
    *,
    names: str = "x",
    over: str = "axis",
    long: bool = False,
    empty: bool = False,
    **attributes: tuple[Any, ...],
) -> Sampler:
    """Tensors of one shape, and what they are reduced ``over``: an axis, some axes or all, or the last axis; with ``long``, sums that a narrow type
    cannot count, as ones and of random numbers; with ``empty``, of no numbers too.
    """

    def takes(d: Draw) -> Asked:
        far = long and d.choose(False, False, True)
        shape = d.choose((2, LONG), (LONG, 2)) if far else d.shape()
        shape = _sized(d, shape) if empty and not far else shape
        styles, factor, shift = DOMAINS[domain]
        few = ("ones", "positive", "normal") if far else (*styles, "rows", *extra)
        tensors = {name: d.floats(*shape, styles=few) * factor + shift for name in names}
        reduced = {"axis": d.axis, "axes": d.axes, "last": _no_axis}[over](len(shape))
        chosen = {} if over == "last" else {over: reduced}
        return Asked(tensors=tensors, attributes={**chosen, **{k: d.choose(*v) for k, v in attributes.items()}})

    return takes


def _no_axis(_: int) -> None:
    return None


def reduced(asked: Asked) -> int:
    """How many numbers go into one, of a reduction."""
    shape = next(iter(asked.tensors.values())).shape
    if "axes" not in asked.attributes:
        return int(shape[asked.attributes.get("axis", -1)])
    axes = asked.attributes["axes"]
    return int(np.prod([shape[a] for a in axes] if axes is not None else shape, dtype=int))


def top(low: int = 1) -> Sampler:
    """One tensor, and how many numbers of its last axis are wanted."""

    def takes(d: Draw) -> Asked:
        shape = d.shape(size=5)
        return Asked(
            tensors={"x": d.floats(*shape, styles=("distinct", *DOMAINS["spread"][0], "ties"))}, attributes={"k": d.whole(low, shape[-1])}
        )

    return takes


def masks(**attributes: tuple[Any, ...]) -> Sampler:
    """A mask and the axes it is reduced over, of no number too."""

    def takes(d: Draw) -> Asked:
        shape = _sized(d, d.shape())
        return Asked(
            tensors={"x": d.mask(*shape)}, attributes={"axes": d.axes(len(shape)), **{k: d.choose(*v) for k, v in attributes.items()}}
        )

    return takes
