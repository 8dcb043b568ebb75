"""Samplers of operations that move numbers: a tensor and what is drawn of its shape; careful that each choice is one the operation defines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from harness.sweep.draw import Draw
from harness.sweep.indices import MOVED
from harness.sweep.kinds import LONG, Sampler
from harness.sweep.op import Asked

Shape = tuple[int, ...]
Maker = Callable[[Draw, Shape], dict[str, Any]]


def shaped(*makers: Maker, low: int = 1, high: int = 3, size: int = 4, styles: tuple[str, ...] = MOVED) -> Sampler:
    """One tensor, and the attributes that each maker draws of its shape."""

    def takes(d: Draw) -> Asked:
        shape = d.shape(low, high, size)
        x = d.floats(*shape, styles=styles)
        return Asked(tensors={"x": x}, attributes={name: value for make in makers for name, value in make(d, shape).items()})

    return takes


def vector(*makers: Maker) -> Sampler:
    """Numbers in a row: of any other rank it is another operation."""

    def takes(d: Draw) -> Asked:
        x = d.floats(d.choose(3, 2, 4, 1), styles=MOVED)
        return Asked(tensors={"x": x}, attributes={name: value for make in makers for name, value in make(d, x.shape).items()})

    return takes


def options(**of: tuple[Any, ...]) -> Maker:
    return lambda d, _: {name: d.choose(*values) for name, values in of.items()}


def an_axis(d: Draw, shape: Shape) -> dict[str, Any]:
    return {"axis": d.axis(len(shape))}


def an_index(d: Draw, shape: Shape) -> dict[str, Any]:
    axis = d.axis(len(shape))
    return {"axis": axis, "index": d.whole(-shape[axis], shape[axis] - 1)}


def a_new_axis(d: Draw, shape: Shape) -> dict[str, Any]:
    return {"axis": d.axis(len(shape) + 1)}


def two_axes(d: Draw, shape: Shape) -> dict[str, Any]:
    """Different ones, each from the end or from the start."""
    first, second = order(d, shape)["order"][:2]
    return {
        "axis1": first - len(shape) if d.choose(False, True) else first,
        "axis2": second - len(shape) if d.choose(False, True) else second,
    }


def some_axes(d: Draw, shape: Shape) -> dict[str, Any]:
    return {"axes": d.axes(len(shape)) or list(range(len(shape)))}


def order(d: Draw, shape: Shape) -> dict[str, Any]:
    """All axes: reversed at its simplest."""
    other = [int(i) for i in np.random.default_rng(d.whole(0, 7)).permutation(len(shape))]
    return {"order": d.choose(list(range(len(shape)))[::-1], other)}


def parts(d: Draw, shape: Shape) -> dict[str, Any]:
    """Sizes that an axis falls into, an empty one among them, and which part is used."""
    axis = d.axis(len(shape))
    cuts = sorted(d.whole(0, shape[axis]) for _ in range(2))
    return {"axis": axis, "sizes": [cuts[0], cuts[1] - cuts[0], shape[axis] - cuts[1]], "part": d.choose(0, 1, 2)}


def counts(d: Draw, shape: Shape) -> dict[str, Any]:
    """How often each axis is repeated."""
    return {"counts": [d.choose(2, 1, 3) for _ in shape]}


def broadcast(d: Draw, shape: Shape) -> dict[str, Any]:
    """A shape of as many axes or more, whose axes of 1 are longer; a low sum is long where one of these becomes a long one."""
    wide = [d.choose(3, 2, 1) if size == 1 else size for size in shape]
    if 1 in shape and d.choose(False, True):
        wide[shape.index(1)] = LONG
    return {"shape": [*d.choose([], [2], [3, 2], [1]), *wide]}


def expanded(asked: Asked) -> int:
    """How many copies of a number a broadcast makes."""
    size = int(np.prod(asked.attributes["shape"], dtype=int))
    return size // max(asked.tensors["x"].size, 1)


def pads(d: Draw, shape: Shape) -> dict[str, Any]:
    """[before, after] of each axis."""
    return {"pads": [[d.choose(1, 0, 2), d.choose(0, 1, 3)] for _ in shape]}


def crops(d: Draw, shape: Shape) -> dict[str, Any]:
    """[before, after] of each axis, where a negative one leaves numbers out, but never all."""
    return {"pads": [[d.whole(-((size - 1) // 2), 2), d.whole(-((size - 1) // 2), 2)] for size in shape]}


def images(most: Callable[[int], int]) -> Sampler:
    """A batch of signals, pictures or volumes with channels, and [before, after] of their own axes, up to ``most`` of each one's size."""

    def takes(d: Draw) -> Asked:
        sizes = [d.choose(3, 4, 2, 5, 1) for _ in range(d.choose(1, 2, 3))]
        x = d.floats(d.choose(2, 1, 3), d.choose(2, 1, 3), *sizes, styles=MOVED)
        return Asked(tensors={"x": x}, attributes={"pads": [[d.whole(0, most(size)), d.whole(0, most(size))] for size in sizes]})

    return takes


def shuffled(*, channels: bool) -> Sampler:
    """Pictures and a ``factor``, whose square divides the channels, or which divides height and width."""

    def takes(d: Draw) -> Asked:
        factor, n, c, h, w = d.choose(2, 3, 1), d.choose(2, 1), d.choose(2, 1), d.choose(2, 3, 1), d.choose(3, 2, 1)
        shape = (n, c * factor**2, h, w) if channels else (n, c, h * factor, w * factor)
        return Asked(tensors={"x": d.floats(*shape, styles=MOVED)}, attributes={"factor": factor})

    return takes


def with_one(d: Draw) -> Asked:
    """A tensor and an axis of it that is 1."""
    shape = list(d.shape(0, 2))
    axis = d.axis(len(shape) + 1)
    shape.insert(axis % (len(shape) + 1), 1)
    return Asked(tensors={"x": d.floats(*shape, styles=MOVED)}, attributes={"axis": axis})


def with_diagonal(d: Draw) -> Asked:
    """Matrices, and a diagonal for each."""
    shape = d.shape(2, 3)
    return Asked(tensors={"x": d.floats(*shape, styles=MOVED), "v": d.floats(*shape[:-2], min(shape[-2:]), styles=MOVED)})


def factors(_: Draw, shape: Shape) -> dict[str, Any]:
    """Two sizes that the last axis falls into."""
    divisor = max(k for k in (1, 2, 3) if shape[-1] % k == 0)
    return {"sizes": [divisor, shape[-1] // divisor]}


def shift(d: Draw, shape: Shape) -> dict[str, Any]:
    """How far to roll each of some axes: backwards, and further than they are long."""
    axes = some_axes(d, shape)["axes"]
    return {"axes": axes, "shifts": [d.choose(1, -1, 2, 0, shape[a] + 1, -2 * shape[a] - 1) for a in axes]}


def new_shape(d: Draw, shape: Shape) -> dict[str, Any]:
    size = int(np.prod(shape))
    return {"shape": d.choose([-1], [size], list(shape[::-1]), [*shape, 1], [shape[0], -1], [-1, shape[-1]], [1, size, 1])}


def cut(d: Draw, shape: Shape) -> dict[str, Any]:
    axis = d.axis(len(shape))
    start = d.whole(0, shape[axis] - 1)
    return {"axis": axis, "start": start, "length": d.whole(1, shape[axis] - start)}


def cut_outside(d: Draw, shape: Shape) -> dict[str, Any]:
    """A part that ends past the end, of a size that would fit."""
    axis = d.axis(len(shape))
    start = d.whole(1, shape[axis] + 1)
    return {"axis": axis, "start": start, "length": d.whole(max(1, shape[axis] - start + 1), shape[axis])}


def written(cut: Maker) -> Sampler:
    """A tensor, and ``v`` that is to be a part of it along one axis."""

    def takes(d: Draw) -> Asked:
        shape = d.shape()
        of = cut(d, shape)
        given = list(shape)
        given[of["axis"]] = of["length"]
        tensors = {"x": d.floats(*shape, styles=MOVED), "v": d.floats(*given, styles=MOVED)}
        return Asked(tensors=tensors, attributes={"axis": of["axis"], "start": of["start"]})

    return takes


def slices(d: Draw, shape: Shape) -> dict[str, Any]:
    """Of each axis [start, stop, step]: from the end, past the end, with steps, sometimes of nothing."""
    return {"slices": [[d.choose(0, 1, -1, -2), d.choose(size, -1, size + 3), d.choose(1, 2, 3)] for size in shape]}


def backward_slices(d: Draw, shape: Shape) -> dict[str, Any]:
    return {"slices": [[d.choose(None, -1, size - 1, size + 2), d.choose(None, 0), d.choose(-1, -2, -3)] for size in shape]}


def window(d: Draw, shape: Shape) -> dict[str, Any]:
    axis = d.axis(len(shape))
    return {"axis": axis, "size": d.whole(1, shape[axis]), "step": d.choose(1, 2, 3)}


def strip(d: Draw) -> Asked:
    """Numbers in a row, and the size and the step of windows over them."""
    x = d.floats(d.choose(5, 6, 9, 2, 1), styles=MOVED)
    of = window(d, x.shape)
    return Asked(tensors={"x": x}, attributes={"size": of["size"], "step": of["step"]})


def diagonal(d: Draw, shape: Shape) -> dict[str, Any]:
    """Two different axes and an offset, never so far that nothing is left."""
    axes = two_axes(d, shape)
    return {**axes, "offset": d.choose(*(k for k in (0, 1, -1, 2) if -shape[axes["axis1"]] < k < shape[axes["axis2"]]))}


def pieces(d: Draw) -> Asked:
    """Three tensors that differ in the size of one axis, which may be 0."""
    shape = list(d.shape())
    axis = d.axis(len(shape))
    tensors = {}
    for name in "abc":
        shape[axis] = d.choose(2, 3, 1, 0) if name == "c" else d.choose(2, 3, 1)
        tensors[name] = d.floats(*shape, styles=MOVED)
    return Asked(tensors=tensors, attributes={"axis": axis})


def alike(names: str, *makers: Maker, styles: tuple[str, ...] = MOVED) -> Sampler:
    """Tensors of one shape."""

    def takes(d: Draw) -> Asked:
        shape = d.shape()
        tensors = {name: d.floats(*shape, styles=styles) for name in names}
        return Asked(tensors=tensors, attributes={name: value for make in makers for name, value in make(d, shape).items()})

    return takes


def assigned(d: Draw) -> Asked:
    """A tensor, slices of it, and what they are to hold: each number of its own, or one row or number for all."""
    shape = d.shape()
    cuts = slices(d, shape)["slices"]
    given = np.zeros(shape)[tuple(slice(*cut) for cut in cuts)].shape
    v = d.choose(given, (1,) * len(given), given[1:])
    return Asked(tensors={"x": d.floats(*shape, styles=MOVED), "v": d.floats(*v, styles=MOVED)}, attributes={"slices": cuts})


def overlapping(d: Draw) -> Asked:
    """A tensor, and how far a part of it is moved along an axis, onto numbers that are read too."""
    shape = d.shape(size=6)
    axis = d.choose(*(a for a in (0, -1) if shape[a] > 1), *(() if max(shape[0], shape[-1]) > 1 else (0,)))
    by = d.whole(1, max(1, shape[axis] - 1))
    return Asked(tensors={"x": d.floats(*shape)}, attributes={"axis": axis, "by": by, "forward": d.choose(True, False)})
