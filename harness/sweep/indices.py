"""Samplers of operations on ids and masks; careful that an id which only a refusal answers rightly is asked apart from those that have an answer."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from gradarbiter.core import Array
from harness.sweep.draw import Draw
from harness.sweep.kinds import LONG, Sampler
from harness.sweep.op import Asked

MOVED = (
    "grid",
    "normal",
    "grid",
    "normal",
    "grid",
    "normal",
    "nan",
    "inf",
)  # a number that is only moved may be any; beside NaN no gradient is asked
SUMMED = ("grid", "normal", "small")
COUNTS = ((3,), (2,), (5,), (1,), (0,))
TYPES = ("int64", "int32")


def ids(d: Draw, *shape: int, high: int, negative: bool = False) -> Array:
    return d.ids(*shape, high=high, low=-high if negative else 0).astype(d.choose(*TYPES))


def distinct(d: Draw, count: int, high: int) -> Array:
    return np.random.default_rng(d.whole(0, 7)).permutation(high)[:count].astype(d.choose(*TYPES))


def picked(
    *,
    name: str = "x",
    ranks: tuple[int, int] = (1, 3),
    anywhere: bool = True,
    counts: tuple[tuple[int, ...], ...] = COUNTS,
    negative: bool = False,
    long: bool = False,
) -> Sampler:
    """A tensor, and ``ids`` along an axis of it or along its first one, repeated ones among them; with ``long``, so many that sums are long."""

    def takes(d: Draw) -> Asked:
        many = long and d.choose(False, True)
        shape = (3, 2) if many else d.shape(*ranks)
        axis = d.axis(len(shape)) if anywhere and not many else 0
        count = (LONG,) if many else d.choose(*counts)
        tensors = {name: d.floats(*shape, styles=MOVED), "ids": ids(d, *count, high=shape[axis], negative=negative)}
        return Asked(tensors=tensors, attributes={"axis": axis} if anywhere else {})

    return takes


def along(
    *,
    smaller: bool = False,
    unique: bool = False,
    source: tuple[str, ...] = (),
    long: bool = False,
    **attributes: tuple[Any, ...],
) -> Sampler:
    """A tensor and as many axes of ``ids``, each along its own line of one axis; ``smaller``: fewer lines than the tensor has; ``source``: the styles of
    ``v``, which is written there.
    """

    def takes(d: Draw) -> Asked:
        many = long and d.choose(False, True)
        shape = (3, 2) if many else d.shape()
        axis = 0 if many else d.axis(len(shape))
        lines = [d.whole(1, size) if smaller and not many else size for size in shape]
        lines[axis] = LONG if many else shape[axis] if not unique and d.choose(True, False) else d.whole(1, shape[axis])
        if unique:
            order = np.random.default_rng(d.whole(0, 7)).permuted(_counted(shape, axis), axis=axis)
            at = order[tuple(slice(size) for size in lines)].astype(d.choose(*TYPES))
        else:
            at = ids(d, *lines, high=shape[axis])
        tensors = {"x": d.floats(*shape, styles=source or MOVED), "ids": at}
        if source:
            tensors["v"] = d.floats(*lines, styles=("ones", "positive") if many else source)
        return Asked(tensors=tensors, attributes={"axis": axis, **{k: d.choose(*v) for k, v in attributes.items()}})

    return takes


def _counted(shape: tuple[int, ...], axis: int) -> Array:
    sizes = [1] * len(shape)
    sizes[axis] = shape[axis]
    return np.broadcast_to(np.arange(shape[axis]).reshape(sizes), shape)


def rows(
    *,
    anywhere: bool = False,
    unique: bool = False,
    long: bool = False,
    counts: tuple[int, ...] = (3, 2, 5, 1, 0),
    styles: tuple[str, ...] = SUMMED,
) -> Sampler:
    """A tensor, ``ids`` along its first axis or any, and ``v`` with a row for each id."""

    def takes(d: Draw) -> Asked:
        many = long and d.choose(False, True)
        shape = (3, 2) if many else d.shape()
        axis = d.axis(len(shape)) if anywhere and not many else 0
        count = LONG if many else d.whole(1, shape[axis]) if unique else d.choose(*counts)
        at = distinct(d, count, high=shape[axis]) if unique else ids(d, count, high=shape[axis])
        given = list(shape)
        given[axis] = count
        few = ("ones", "positive") if many else styles
        tensors = {"x": d.floats(*shape, styles=styles), "ids": at, "v": d.floats(*given, styles=few)}
        return Asked(tensors=tensors, attributes={"axis": axis} if anywhere else {})

    return takes


def pairs(*, source: tuple[str, ...] = (), unique: bool = False, apart: bool = False, negative: bool = True) -> Sampler:
    """A tensor, and two arrays of ids that broadcast against each other: of its first two axes, or with ``apart`` of its first and third."""

    def takes(d: Draw) -> Asked:
        shape = d.shape(3, 4) if apart else d.shape(2, 3)
        high = (shape[0], shape[2 if apart else 1])
        count = d.choose(((3,), (3,)), ((2,), (2,)), ((2, 1), (3,)), ((1,), (4,)))
        both = np.broadcast_shapes(*count)
        if unique:
            size = d.whole(1, high[0] * high[1])
            flat = np.random.default_rng(d.whole(0, 7)).permutation(high[0] * high[1])[:size]
            at, both = [flat // high[1], flat % high[1]], (size,)
        else:
            low = [-h if negative else 0 for h in high]
            at = [d.ids(*c, high=h, low=lowest) for c, h, lowest in zip(count, high, low, strict=True)]
        kind = d.choose(*TYPES)
        tensors = {"x": d.floats(*shape, styles=source or MOVED), "i": at[0].astype(kind), "j": at[1].astype(kind)}
        if source:
            tensors["v"] = d.floats(*both, *shape[2:], styles=source)
        return Asked(tensors=tensors)

    return takes


def masked(names: str = "x", *, leading: bool = False, broadcast: bool = True, **attributes: tuple[Any, ...]) -> Sampler:
    """Tensors of one shape and a ``mask`` of that shape, of one that broadcasts to it, or with ``leading`` of its first axes."""

    def takes(d: Draw) -> Asked:
        shape = d.shape()
        if leading:
            of = shape[: d.whole(1, len(shape))]
        else:
            of = tuple(d.choose(size, 1) for size in shape) if broadcast else shape
            of = of[d.whole(0, len(of) - 1) :] if broadcast and d.choose(False, True) else of
        mask = d.choose(d.mask(*of), np.ones(of, dtype=bool), np.zeros(of, dtype=bool))
        tensors = {name: d.floats(*shape, styles=MOVED) for name in names}
        return Asked(tensors={**tensors, "mask": mask}, attributes={k: d.choose(*v) for k, v in attributes.items()})

    return takes


def segments(*styles: str, filled: bool = False, long: bool = False) -> Sampler:
    """Rows of ``x``, each with the number of the segment it belongs to, in order; the last of ``count`` is not empty, with ``filled`` none."""

    def takes(d: Draw) -> Asked:
        many = long and d.choose(False, True)
        count = d.choose(2, 3, 1)
        size = LONG if many else d.whole(count, 7)
        certain = np.arange(count) if filled else np.array([count - 1])
        at = np.concatenate([certain, d.ids(size - len(certain), high=count)])
        shape = () if many else d.shape(0, 2)
        tensors = {
            "x": d.floats(size, *shape, styles=("ones", "positive") if many else styles),
            "ids": np.sort(at).astype(d.choose(*TYPES)),
        }
        return Asked(tensors=tensors, attributes={"count": count})

    return takes


def narrow(d: Draw) -> Asked:
    """Rows of a tensor by ids of a type that holds these ids, but perhaps not the number of rows; from the end where it is signed."""
    size, kind = d.choose(3, 130, 300), d.choose("int8", "uint8", "int16")
    high = min(size, int(np.iinfo(kind).max) + 1)
    at = d.ids(5, high=high, low=-high if kind != "uint8" else 0)
    return Asked(tensors={"x": d.floats(size, 2), "ids": at.astype(kind)})


def padded(d: Draw) -> Asked:
    """A table of rows, ids, and the id that stands for no row: from the start or from the end."""
    asked = picked(name="table", ranks=(2, 2), anywhere=False, counts=((3,), (2, 3), (5,), (1,)))(d)
    size = len(asked.tensors["table"])
    return Asked(tensors=asked.tensors, attributes={"padding": d.choose(0, size - 1, -1)})


def whole(d: Draw) -> Asked:
    """Ids of the asked type, of up to three axes, and ``count``, which is above them all."""
    count = d.choose(3, 5, 1)
    return Asked(tensors={"ids": d.ids(*d.shape(), high=count).astype(d.dtype)}, attributes={"count": count})


def sequence(d: Draw) -> Asked:
    """Ids of the asked type along one axis, perhaps none, and a ``count`` below or above the highest."""
    return Asked(tensors={"ids": d.ids(d.choose(4, 7, 1, 0), high=6).astype(d.dtype)}, attributes={"count": d.choose(0, 3, 9)})


def ordered(d: Draw) -> Asked:
    """Numbers in order, ties among them, and others to find a place for, equal ones among them."""
    few = ("grid", "normal", "ties")
    return Asked(
        tensors={"x": np.sort(d.floats(d.choose(4, 7, 1), styles=few)), "v": d.floats(*d.shape(), styles=few)},
        attributes={"right": d.choose(False, True)},
    )


def outside(sampler: Sampler, high: Callable[[Asked], int] | None = None, *, wraps: bool = False) -> Sampler:
    """The arguments of ``sampler`` with one id that is none; -1 among these but where, with ``wraps``, it is documented to count from the end."""

    def takes(d: Draw) -> Asked:
        asked = sampler(d)
        size = high(asked) if high else next(iter(asked.tensors.values())).shape[asked.attributes.get("axis", 0)]
        wrong = asked.tensors["ids"].copy()
        wrong.flat[d.whole(0, wrong.size - 1)] = d.choose(size, size + 2, -size - 1, np.iinfo(wrong.dtype).max, *(() if wraps else (-1,)))
        return dataclasses.replace(asked, tensors={**asked.tensors, "ids": wrong})

    return takes
