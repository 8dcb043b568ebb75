"""Samplers of norms and of losses; careful that what a loss is not differentiated by, such as a target, is whole numbers, and exact in every type."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradarbiter.core import Array
from harness.sweep.draw import Draw
from harness.sweep.kinds import LONG, Sampler
from harness.sweep.op import Asked

REDUCTIONS = ("mean", "sum", "none")
EPS = (1e-5, 1e-3)


def normalized(*, axes: int = 1, parts: tuple[str, ...] = (), **attributes: tuple[Any, ...]) -> Sampler:
    """``x`` whose last ``axes`` are normalized, with a factor or a summand for each of their places; rows that are constant or far from 0 among them."""

    def takes(d: Draw) -> Asked:
        lead = d.choose((2,), (2, 3), (1,), (2, 1, 2))
        inner = tuple(d.choose(3, 4, 2, 5, 1) for _ in range(axes))
        if axes == 1 and d.choose(False, False, False, True):
            lead, inner = d.choose(((2,), (LONG,)), ((LONG,), (2,)))
        tensors = {"x": _shifted(d, *lead, *inner), **{part: d.floats(*inner) for part in parts}}
        return Asked(tensors=tensors, attributes={name: d.choose(*options) for name, options in attributes.items()})

    return takes


def channelled(*, groups: tuple[int, ...] = (), statistics: bool = False) -> Sampler:
    """``x`` [batch, channels, ...] with a ``weight`` and a ``bias`` a channel; ``statistics``: its means and variances, given in eighths."""

    def takes(d: Draw) -> Asked:
        parts = d.choose(*groups) if groups else 1
        channels = parts * d.choose(2, 3, 1)
        spatial = d.choose((3,), (2, 3), (max(channels, 2),) * 2, (LONG,), (1, 4))  # never one number alone: it has no deviation
        x = _shifted(d, d.choose(2, 3, 1), channels, *spatial)
        tensors = {"x": x, "weight": d.floats(channels), "bias": d.floats(channels)}
        if statistics:
            tensors |= {"mean8": d.ids(channels, low=-16, high=17), "var8": d.ids(channels, low=1, high=33)}
        return Asked(tensors=tensors, attributes={"eps": d.choose(*EPS), **({"groups": parts} if groups else {})})

    return takes


def _shifted(d: Draw, *shape: int) -> Array:
    """Numbers around 0, or in multiples of 1/8 around one far from it: a difference of two large means of squares is not their variance."""
    x = d.floats(*shape, styles=("grid", "normal", "positive", "ones", "large"))
    if d.choose(False, False, True):
        return np.round(x * 8) / 8 + (1024 if d.dtype == "float32" else 16)
    return x


def vectors(names: str, *, zero: bool = True, **attributes: tuple[Any, ...]) -> Sampler:
    """Tensors of one shape, seen as vectors along an ``axis``; one of them may be 0."""

    def takes(d: Draw) -> Asked:
        shape = d.shape(low=2)
        axis = d.axis(len(shape))
        tensors = {name: d.floats(*shape) for name in names}
        if zero and d.choose(False, False, True):
            tensors[names[0]][0] = 0.0
        return Asked(tensors=tensors, attributes={"axis": axis, **{name: d.choose(*options) for name, options in attributes.items()}})

    return takes


def compared(names: str, *, last: str = "grid", low: int = 1, **attributes: tuple[Any, ...]) -> Sampler:
    """Floating tensors of one shape, the last of them of the style ``last``, now and then long ones that their mean or sum cannot count."""

    def takes(d: Draw) -> Asked:
        shape = (LONG, *(2,) * (low - 1)) if d.choose(False, False, False, True) else d.shape(low)
        first = ("ones", "positive") if max(shape) == LONG else ("grid", "normal", "ties")
        tensors = {name: d.floats(*shape, styles=first if name != names[-1] else (last,)) for name in names}
        return Asked(tensors=tensors, attributes={name: d.choose(*options) for name, options in attributes.items()})

    return takes


def targeted(
    low: int,
    high: int,
    *,
    names: str = "x",
    styles: tuple[str, ...] = ("grid", "normal", "large"),
    shares: bool = False,
    rows: bool = False,
    **attributes: tuple[Any, ...],
) -> Sampler:
    """Floating tensors, with ``shares`` between 0 and 1, and ``target``: whole numbers in [low, high), but for 0 where low is -1; with ``rows`` one a row."""

    def takes(d: Draw) -> Asked:
        shape = (LONG, 2) if d.choose(False, False, False, True) else d.shape(low=2, high=2 if rows else 3)
        few = ("positive",) if shares or max(shape) == LONG else styles
        tensors = {name: d.floats(*shape, styles=few) for name in names}
        if shares:
            tensors = {name: (value - 1 / 16) / 2 for name, value in tensors.items()}
        target = d.ids(*(shape[:1] if rows else shape), low=low, high=high)
        tensors["target"] = np.where(target == 0, 1, target) if low == -1 else target
        return Asked(tensors=tensors, attributes={name: d.choose(*options) for name, options in attributes.items()})

    return takes


def classified(
    *,
    spatial: bool = False,
    outside: bool = True,
    weighted: bool = False,
    ignored: bool = False,
    styles: tuple[str, ...] = ("grid", "normal", "large"),
    **attributes: tuple[Any, ...],
) -> Sampler:
    """``x`` [rows, classes, ...] and a class a row, ``ids`` of either width; one outside of the classes, one that is ignored, a ``weight`` a class."""

    def takes(d: Draw) -> Asked:
        rows, classes = d.choose(2, 3, 1), d.choose(3, 4, 2, 5)
        many = not spatial and d.choose(False, False, False, True)
        shape = (LONG, classes) if many else (rows, classes, *((d.choose(2, 3, 1),) if spatial else ()))
        ids = d.ids(shape[0], *shape[2:], high=classes)
        chosen = {name: d.choose(*options) for name, options in attributes.items()}
        tensors = {"x": d.floats(*shape, styles=styles), "ids": ids}
        if weighted:
            tensors["weight8"] = d.ids(classes, low=1, high=17)
        if ignored:  # one at least is not
            ids.flat[1:] = np.where(d.mask(ids.size - 1), chosen["ignore"], ids.flat[1:])
            ids.flat[0] = (chosen["ignore"] + 1) % classes
        elif outside and d.choose(False, False, False, False, True):
            ids.flat[-1] = d.choose(classes, -1, classes + 2)
        tensors["ids"] = ids.astype(d.choose("int64", "int32"))
        return Asked(tensors=tensors, attributes=chosen)

    return takes


def mixed(**attributes: tuple[Any, ...]) -> Sampler:
    """``x`` [rows, classes], and a ``target`` a row: how many eighths of it each class has."""

    def takes(d: Draw) -> Asked:
        rows, classes = d.choose(2, 3, 1), d.choose(3, 4, 2, 5)
        rows = LONG if d.choose(False, False, False, True) else rows
        x = d.floats(rows, classes, styles=("grid", "normal", "large"))
        target = np.random.default_rng(d.whole(0, 7)).multinomial(8, [1 / classes] * classes, rows)
        return Asked(tensors={"x": x, "target": target}, attributes={name: d.choose(*options) for name, options in attributes.items()})

    return takes


def beyond(asked: Asked) -> bool:
    """Whether a class is none of those that there are."""
    ids, classes = asked.tensors["ids"], asked.tensors["x"].shape[1]
    return bool(np.any((ids < 0) | (ids >= classes)))


def looked_up() -> Sampler:
    """A table ``x`` [rows, width] and ``ids`` [batch, length] of its rows, repeated ones and a great many among them, or one outside."""

    def takes(d: Draw) -> Asked:
        rows, width, batch = d.choose(3, 4, 2, 5, 1), d.choose(2, 3, 1), d.choose(2, 3, 1)
        many = d.choose(False, False, False, True)
        ids = d.ids(batch, LONG if many else d.choose(2, 3, 4, 1), high=rows)
        if d.choose(False, False, False, False, True):
            ids.flat[-1] = d.choose(rows, -1, rows + 2)
        x = d.floats(rows, width, styles=("ones", "positive") if many else ("grid", "normal"))
        return Asked(tensors={"x": x, "ids": ids.astype(d.choose("int64", "int32"))})

    return takes


def absent_row(asked: Asked) -> bool:
    """Whether an id is none of a row of the table."""
    ids = asked.tensors["ids"]
    return bool(np.any((ids < 0) | (ids >= asked.tensors["x"].shape[0])))


def count(asked: Asked) -> int:
    """Numbers in the longest sum: all of them."""
    return max(int(value.size) for value in asked.tensors.values())


def share(asked: Asked, upstream: Array, terms: int) -> Array:
    """The size of the gradient that flows into each of a loss's terms."""
    reduction = asked.attributes.get("reduction", "none")
    rows = len(next(iter(asked.tensors.values())))
    return upstream / {"mean": terms, "batchmean": rows}.get(reduction, 1)
