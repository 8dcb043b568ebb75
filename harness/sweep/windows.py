"""Samplers of operations that move a window over the last axes, or that resize them; careful to draw sizes that could be confused equal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.sweep.draw import Draw
from harness.sweep.kinds import LONG, Sampler
from harness.sweep.op import Asked


def outputs(size: int, kernel: int, stride: int, padding: int, dilation: int = 1) -> int:
    """How many places a window takes on an axis."""
    return (size + 2 * padding - (kernel - 1) * dilation - 1) // stride + 1


def convolution(rank: int, *, groups: tuple[int, ...] = (1,), depthwise: bool = False, kernel: int = 0, long: str = "") -> Sampler:
    """``x`` [batch, channels, ...], ``weight`` [to, from / groups, ...], with and without a ``bias``; ``long``: an axis of many ones, now and then."""

    def takes(d: Draw) -> Asked:
        sizes = [kernel] * rank if kernel else _each(d, rank, 2, 3, 1)
        stride, padding, dilation = _each(d, rank, 1, 2, 3), _each(d, rank, 0, 1, 2), _each(d, rank, 1, 2)
        spatial = [max(1, (k - 1) * far + 1 - 2 * p + d.choose(2, 1, 3, 0)) for k, far, p in zip(sizes, dilation, padding, strict=True)]
        batch, parts, inside, outside = d.choose(2, 3, 1), d.choose(*groups), d.choose(2, 3, 1), d.choose(2, 3, 1)
        if depthwise:
            parts, inside = d.choose(2, 3), 1
        elif parts == 1 and d.choose(False, True):
            batch = inside = outside = max(spatial)
            spatial = [batch] * rank
        many = bool(long) and d.choose(False, False, False, True)
        if many and long == "channels":
            inside = LONG
        elif many:
            spatial[-1] = LONG
        few = ("ones", "positive") if many else ("grid", "normal")
        tensors = {
            "x": d.floats(batch, parts * inside, *spatial, styles=few),
            "weight": d.floats(parts * outside, inside, *sizes, styles=few),
        }
        if d.choose(True, False):
            tensors["bias"] = d.floats(parts * outside)
        return Asked(tensors=tensors, attributes={"stride": stride, "padding": padding, "dilation": dilation, "groups": parts})

    return takes


def transposed_convolution(rank: int, *, groups: tuple[int, ...] = (1,)) -> Sampler:
    """``x`` [batch, channels, ...] and ``weight`` [from, to / groups, ...], with and without a ``bias``."""

    def takes(d: Draw) -> Asked:
        kernel, stride, dilation = _each(d, rank, 2, 3, 1), _each(d, rank, 1, 2, 3), _each(d, rank, 1, 2)
        batch, parts, inside, outside = d.choose(2, 3, 1), d.choose(*groups), d.choose(2, 3, 1), d.choose(2, 3, 1)
        spatial = _each(d, rank, 2, 3, 1)
        if parts == 1 and d.choose(False, True):
            batch = inside = outside = max(spatial)
            spatial = [batch] * rank
        full = [(n - 1) * s + (k - 1) * far + 1 for n, k, s, far in zip(spatial, kernel, stride, dilation, strict=True)]
        padding = [min(p, (n - 1) // 2) for p, n in zip(_each(d, rank, 0, 1, 2), full, strict=True)]
        extra = [min(e, max(s, far) - 1) for e, s, far in zip(_each(d, rank, 0, 1), stride, dilation, strict=True)]
        tensors = {"x": d.floats(batch, parts * inside, *spatial), "weight": d.floats(parts * inside, outside, *kernel)}
        if d.choose(True, False):
            tensors["bias"] = d.floats(parts * outside)
        return Asked(
            tensors=tensors,
            attributes={"stride": stride, "padding": padding, "output_padding": extra, "dilation": dilation, "groups": parts},
        )

    return takes


def convolved(asked: Asked) -> int:
    """Numbers in the longest sum of a convolution: one of the output, of the input's, the weight's or the bias's gradient."""
    x, weight, a = asked.tensors["x"], asked.tensors["weight"], asked.attributes
    kernel = weight.shape[2:]
    if "output_padding" in a:  # its output is the larger side
        moves = [
            (n - 1) * s + (k - 1) * far + 1 + e
            for n, k, s, far, e in zip(x.shape[2:], kernel, a["stride"], a["dilation"], a["output_padding"], strict=True)
        ]
    elif "stride" not in a:  # as long as its input
        moves = list(x.shape[2:])
    else:
        moves = [outputs(*sizes) for sizes in zip(x.shape[2:], kernel, a["stride"], a["padding"], a["dilation"], strict=True)]
    return max(int(x.shape[0] * np.prod(moves, dtype=int)), int(np.prod(kernel, dtype=int) * max(weight.shape[:2])))


def same_convolution(rank: int) -> Sampler:
    """A convolution whose output is as long as its input, also where the window's size is even and one side gets more padding."""

    def takes(d: Draw) -> Asked:
        kernel, dilation, spatial = _each(d, rank, 2, 3, 1), _each(d, rank, 1, 2), _each(d, rank, 3, 4, 2)
        batch, inside, outside = d.choose(2, 3, 1), d.choose(2, 3, 1), d.choose(2, 3, 1)
        tensors = {"x": d.floats(batch, inside, *spatial), "weight": d.floats(outside, inside, *kernel)}
        return Asked(tensors=tensors, attributes={"dilation": dilation})

    return takes


def pool(rank: int, *, extra: tuple[str, ...] = (), dilations: tuple[int, ...] = (), long: bool = False) -> Sampler:
    """``x`` [batch, channels, ...] and a window with its stride and padding; ``long``: a window of many ones, now and then."""

    def takes(d: Draw) -> Asked:
        kernel, stride = _each(d, rank, 2, 3, 1), _each(d, rank, 2, 1, 3)
        padding = [min(p, k // 2) for p, k in zip(_each(d, rank, 0, 1), kernel, strict=True)]
        dilation = _each(d, rank, *dilations) if dilations else [1] * rank
        many = long and d.choose(False, False, False, True)
        if many:
            kernel[-1] = LONG
        spatial = [max(1, (k - 1) * far + 1 - 2 * p + d.choose(2, 1, 3, 0, 4)) for k, far, p in zip(kernel, dilation, padding, strict=True)]
        batch, channels = d.choose((2, 2), (2, 3), (1, 1), (spatial[-1], spatial[-1]) if not many else (3, 2))
        few = ("ones", "positive") if many else ("grid", "normal", *extra)
        attributes = {"kernel": kernel, "stride": stride, "padding": padding, **({"dilation": dilation} if dilations else {})}
        return Asked(tensors={"x": d.floats(batch, channels, *spatial, styles=few)}, attributes=attributes)

    return takes


def window(asked: Asked) -> int:
    """Numbers in a window, or the windows that a number is in."""
    return int(np.prod(asked.attributes["kernel"], dtype=int))


def patches(*, folded: bool = False) -> Sampler:
    """``x`` [batch, channels, height, width] and the windows cut from it; ``folded``: the windows, to be put together."""

    def takes(d: Draw) -> Asked:
        kernel, stride, padding, dilation = _each(d, 2, 2, 3, 1), _each(d, 2, 1, 2, 3), _each(d, 2, 0, 1), _each(d, 2, 1, 2)
        size = [max(1, (k - 1) * far + 1 - 2 * p + d.choose(2, 1, 3, 0)) for k, far, p in zip(kernel, dilation, padding, strict=True)]
        batch, channels = d.choose(2, 3, 1), d.choose(2, 3, 1)
        attributes: dict[str, Any] = {"kernel": kernel, "stride": stride, "padding": padding, "dilation": dilation}
        if not folded:
            return Asked(tensors={"x": d.floats(batch, channels, *size)}, attributes=attributes)
        places = np.prod([outputs(*of) for of in zip(size, kernel, stride, padding, dilation, strict=True)], dtype=int)
        x = d.floats(batch, channels * int(np.prod(kernel, dtype=int)), int(places))
        return Asked(tensors={"x": x}, attributes={"size": size, **attributes})

    return takes


def resize(
    rank: int, *, sizes: tuple[int, ...] = (4, 6, 2, 3, 7, 1), extra: tuple[str, ...] = (), **attributes: tuple[Any, ...]
) -> Sampler:
    """``x`` [batch, channels, ...] and the ``size`` that its last axes are to have: longer, shorter, or as they are."""

    def takes(d: Draw) -> Asked:
        shape = [d.choose(2, 3, 1), d.choose(2, 3, 1), *_each(d, rank, 2, 3, 4, 5, 1)]
        chosen = {name: d.choose(*options) for name, options in attributes.items()}
        size = shape[2:] if d.choose(False, False, False, True) else _each(d, rank, *sizes)
        return Asked(tensors={"x": d.floats(*shape, styles=("grid", "normal", *extra))}, attributes={"size": size, **chosen})

    return takes


def scaled(*, factors: tuple[int, ...] = (2, 3, 1), squeezed: bool = False, stretched: bool = False) -> Sampler:
    """``x`` [batch, channels, height, width] and a whole ``factor``; its square divides the channels, or itself the height and width, where asked."""

    def takes(d: Draw) -> Asked:
        factor = d.choose(*factors)
        channels = d.choose(2, 1, 3) * (factor**2 if squeezed else 1)
        spatial = [n * (factor if stretched else 1) for n in _each(d, 2, 2, 3, 1)]
        return Asked(tensors={"x": d.floats(d.choose(2, 3, 1), channels, *spatial)}, attributes={"factor": factor})

    return takes


def spread(
    rank: int, *, channels: tuple[int, ...] = (2, 3, 1), extra: tuple[str, ...] = (), long: bool = False, **attributes: tuple[Any, ...]
) -> Sampler:
    """``x`` [batch, channels, ...], all of whose last axes are seen at once; ``long``: of many ones, now and then."""

    def takes(d: Draw) -> Asked:
        many = long and d.choose(False, False, False, True)
        spatial = [2] * (rank - 1) + [LONG] if many else _each(d, rank, 2, 3, 4, 1)
        few = ("ones", "positive") if many else ("grid", "normal", *extra)
        x = d.floats(d.choose(2, 3, 1), d.choose(*channels), *spatial, styles=few)
        return Asked(tensors={"x": x}, attributes={name: d.choose(*options) for name, options in attributes.items()})

    return takes


def _each(d: Draw, rank: int, *options: int) -> list[int]:
    """One option for all axes, or one an axis."""
    if d.choose(True, False):
        return [d.choose(*options)] * rank
    return [d.choose(*options) for _ in range(rank)]


def spatial_size(asked: Asked) -> int:
    """Numbers in all of the last axes."""
    shape: Sequence[int] = asked.tensors["x"].shape[2:]
    return int(np.prod(shape, dtype=int))
