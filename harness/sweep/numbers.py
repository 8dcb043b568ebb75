"""Samplers of whole numbers, casts, ranges and random draws; careful that the ends of a type are among its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradarbiter.core import Array
from harness.sweep.draw import Draw
from harness.sweep.kinds import Sampler
from harness.sweep.op import Asked

WHOLE = ("int32", "int64", "int8", "uint8")
MANY = 20000  # numbers of one random draw


def _whole(d: Draw, shape: tuple[int, ...], *, ends: bool) -> Array:
    """Small numbers, or with ``ends`` also the first and last ones of the type."""
    few = d.whole_numbers(*shape)
    if not ends or not d.choose(False, True):
        return few
    info = np.iinfo(d.dtype)
    rng = np.random.default_rng(d.whole(0, 7))
    return rng.choice(np.array([info.min, info.max, info.min + 1, info.max - 1, 1, 0, few.flat[0]], dtype=d.dtype), shape)


def integers(names: str = "ab", *, ends: bool = True) -> Sampler:
    """Whole numbers of one type; the second ones broadcast."""

    def takes(d: Draw) -> Asked:
        shape = d.shape()
        shapes = [shape, d.choose(shape, shape[-1:], ())]
        return Asked(tensors={name: _whole(d, its, ends=ends) for name, its in zip(names, shapes, strict=False)})

    return takes


def division(*, zero: bool = False) -> Sampler:
    """A divisor is not zero, or with ``zero`` once is; a quotient is in the type: the smallest number is not divided by -1."""

    def takes(d: Draw) -> Asked:
        asked = integers()(d)
        a, b = (np.array(t) for t in asked.tensors.values())
        b[b == 0] = 3
        if np.iinfo(d.dtype).min < 0:
            b[(b == -1) & bool(np.any(a == np.iinfo(d.dtype).min))] = 2
        if zero:
            b.flat[0] = 0
        return Asked(tensors={"a": a, "b": b})

    return takes


def shifts(d: Draw) -> Asked:
    """By less than the type has bits."""
    shape = d.shape()
    bits = np.iinfo(d.dtype).bits
    by = np.random.default_rng(d.whole(0, 7)).integers(0, bits, shape).astype(d.dtype)
    return Asked(tensors={"a": _whole(d, shape, ends=True), "b": by})


def powers(d: Draw) -> Asked:
    shape = d.shape()
    return Asked(tensors={"a": _whole(d, shape, ends=False), "b": d.whole_numbers(*shape, low=0, high=12)})


def wide_sums(d: Draw) -> Asked:
    """Sums that the type may not hold and int64 does."""
    shape = d.choose(d.shape(), (40,), (300, 2))
    most = min(int(np.iinfo(d.dtype).max), 2**40)
    x = (
        np.random.default_rng(d.whole(0, 7)).integers(most // 2 if d.choose(False, True) else 0, most, shape)
        if d.choose(False, True)
        else None
    )
    return Asked(tensors={"x": d.whole_numbers(*shape) if x is None else x.astype(d.dtype)}, attributes={"axis": d.axis(len(shape))})


def flags(d: Draw) -> Asked:
    shape = d.choose(d.shape(), (300,), (300, 2))
    return Asked(tensors={"x": d.mask(*shape) | d.choose(False, True)}, attributes={"axis": d.axis(len(shape))})


def special(names: str = "x") -> Sampler:
    """Floats, NaN, infinities and zeros of both signs among them; two are often equal."""

    def takes(d: Draw) -> Asked:
        shape = d.shape()
        rng = np.random.default_rng(d.whole(0, 7))
        odd = d.choose([1.0, -1.0], [1.0, np.nan], [0.0, -0.0, 1.0], [np.inf, -np.inf, np.nan, 1.0])
        return Asked(tensors={name: rng.choice(odd, shape) for name in names})

    return takes


def fractions(d: Draw) -> Asked:
    """Floats with fractions of both signs, which a cast to whole numbers cuts off."""
    return Asked(tensors={"x": d.floats(*d.shape(), styles=("grid", "normal", "large", "zero"))})


def long_whole(d: Draw) -> Asked:
    """Whole numbers with more digits than float32 has."""
    info = np.iinfo(d.dtype)
    most = min(int(info.max), 2**60)
    lowest = max(int(info.min), -most)
    return Asked(tensors={"x": np.random.default_rng(d.whole(0, 7)).integers(lowest, most, d.shape()).astype(d.dtype)})


def between(bits: int) -> Sampler:
    """Numbers between those of a type with as many bits of significand: halfway, or a little to one side."""

    def takes(d: Draw) -> Asked:
        shape = d.shape()
        rng = np.random.default_rng(d.whole(0, 7))
        below = rng.integers(2 ** (bits - 1), 2**bits, shape) * 2.0 ** (1 - bits)
        past = d.choose(0.5, 0.25, 0.75, 0.5 + 2.0**-6, 0.5 - 2.0**-6) * 2.0 ** (1 - bits)
        sign = rng.choice([-1.0, 1.0], shape)
        return Asked(tensors={"x": sign * (below + past) * 2.0 ** d.choose(0, 3, -10)})

    return takes


def ranges(*, inexact: Mapping[str, tuple[float, ...]] | None = None, **attributes: tuple[Any, ...]) -> Sampler:
    """What a range is made of; it has the type of ``like``. ``inexact``: more options of a wide type, which no type holds."""

    def takes(d: Draw) -> Asked:
        options = {name: (*its, *((inexact or {}).get(name, ()) if d.wide else ())) for name, its in attributes.items()}
        return Asked(tensors={"like": _like(d)}, attributes={name: d.choose(*its) for name, its in options.items()})

    return takes


def drawn(*, weights: bool = False, distinct: Mapping[str, int] | None = None, **attributes: tuple[Any, ...]) -> Sampler:
    """A seed, a tensor ``like`` what is drawn, or ``weights``: shares of classes of which one may never come; of ``distinct`` numbers, the ``least``."""

    def takes(d: Draw) -> Asked:
        given = {"seed": d.choose(0, 1, 12345), "count": MANY, **{name: d.choose(*options) for name, options in attributes.items()}}
        if distinct:
            given["least"] = distinct[d.dtype]
        if not weights:
            return Asked(tensors={"like": _like(d)}, attributes=given)
        shares = d.choose([0.25, 0.75], [0.5, 0.125, 0.375], [0.5, 0.0, 0.25, 0.25], [0.0, 1.0])
        return Asked(tensors={"weights": np.array(shares)}, attributes=given)

    return takes


def _like(d: Draw) -> Array:
    return np.ones(1, dtype=d.dtype if d.dtype in WHOLE else "float64")
