"""Samplers, one a kind of operation; careful that they know the kind and no operation: what one finds is not what somebody put in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from harness.sweep.draw import Draw
from harness.sweep.op import Asked

Sampler = Callable[[Draw], Asked]
LONG = 1100  # more ones than bfloat16 (256) or float16 in halves can count; a sum of this length is slow in nothing


def styles(d: Draw, domain: str) -> tuple[str, ...]:
    """The styles of numbers in a domain: the whole line, numbers above zero, or those below one in size; NaN and infinity where a type is wide."""
    edges = ("nan", "inf") if d.wide else ("nan",)
    return {
        "line": ("grid", "normal", "small", *(("large",) if d.wide else ()), *edges),
        "positive": ("positive", *(("zero",) if d.wide else ()), "nan"),
        "unit": ("small", "nan"),
    }[domain]


def elementwise(domain: str = "line", names: str = "x", **attributes: tuple[Any, ...]) -> Sampler:
    """One tensor or several of broadcastable shapes; an attribute is one of its options."""

    def takes(d: Draw) -> Asked:
        shape = d.shape()
        tensors = {name: d.floats(*(_broadcastable(d, shape) if at else shape), styles=styles(d, domain)) for at, name in enumerate(names)}
        return Asked(tensors=tensors, attributes={name: d.choose(*options) for name, options in attributes.items()})

    return takes


def _broadcastable(d: Draw, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The same shape, one with an axis of 1, or one with fewer axes."""
    how = d.choose("same", "ones", "fewer")
    if how == "ones":
        return tuple(d.choose(size, 1) for size in shape)
    return shape[d.whole(0, len(shape)) :] if how == "fewer" else shape


def reduction(
    domain: str = "line", extra: tuple[str, ...] = (), *, many: bool = False, long: bool = False, **attributes: tuple[Any, ...]
) -> Sampler:
    """One tensor and the axis, or with ``many`` the axes, that it is reduced over; with ``long``, sums that a narrow type cannot count."""

    def takes(d: Draw) -> Asked:
        shape = d.choose(d.shape(), (2, LONG), (LONG, 2)) if long and d.choose(False, False, True) else d.shape()
        few = ("ones", "positive") if max(shape) == LONG else (*styles(d, domain), "ones", "ties", *extra)
        chosen = {"axes" if many else "axis": d.axes(len(shape)) if many else d.axis(len(shape))}
        return Asked(tensors={"x": d.floats(*shape, styles=few)}, attributes={**chosen, **{k: d.choose(*v) for k, v in attributes.items()}})

    return takes


def reduced(asked: Asked) -> int:
    """How many numbers go into one, of a reduction of ``x``."""
    shape = asked.tensors["x"].shape
    if "axis" in asked.attributes:
        return int(shape[asked.attributes["axis"]])
    axes = asked.attributes["axes"]
    return int(np.prod([shape[a] for a in axes] if axes is not None else shape, dtype=int))


def product(ranks: tuple[tuple[int, int], ...] = ((2, 2),)) -> Sampler:
    """Two tensors ``a`` and ``b`` whose last axes fit a matrix product, with leading axes that broadcast."""

    def takes(d: Draw) -> Asked:
        m, k, n = d.choose(2, 3, 1), d.choose(2, 3, 4, 1), d.choose(3, 2, 1)
        rank_a, rank_b = d.choose(*ranks)
        lead = tuple(d.choose(2, 3) for _ in range(max(rank_a, rank_b) - 2))
        a = (*_lead(d, lead, rank_a), m, k) if rank_a > 1 else (k,)
        b = (*_lead(d, lead, rank_b), k, n) if rank_b > 1 else (k,)
        return Asked(tensors={"a": d.floats(*a), "b": d.floats(*b)})

    return takes


def _lead(d: Draw, lead: tuple[int, ...], rank: int) -> tuple[int, ...]:
    mine = lead[len(lead) - (rank - 2) :] if rank > 2 else ()
    return tuple(d.choose(size, 1) for size in mine)


def inner(asked: Asked) -> int:
    return int(asked.tensors["a"].shape[-1])


def indexed(*, smaller: bool = False, drop: int = 0) -> Sampler:
    """A tensor ``x``, an axis, and whole numbers ``ids`` along it, repeated ones among them."""

    def takes(d: Draw) -> Asked:
        shape = d.shape(low=1 + drop)
        axis = d.axis(len(shape))
        size = shape[axis]
        count = d.whole(1, size) if smaller else d.whole(1, 5)
        return Asked(tensors={"x": d.floats(*shape), "ids": d.ids(count, high=size)}, attributes={"axis": axis})

    return takes
