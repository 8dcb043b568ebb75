"""What float64 says of an example: the output, its gradients, and how far a right answer may be from either; careful at kinks, jumps and infinities.

**Gradients.** Central differences of ``sum(f(x) * upstream)`` at four steps, extrapolated (Richardson): the error falls with the eighth power of the
step. The same values give the two one-sided derivatives of each number of the output. Where these disagree there is a kink, and anything between them is right;
where they agree with each other only, it is the slope that has a kink; where they grow as the step shrinks there is a jump, and nothing is asked.

**Bounds.** A right answer is as good as R roundings to the type, and as an exact answer to inputs that are off by R roundings: R u (|want| + change), where
the change is that of ``want`` if every input (and, for a gradient, the upstream one) moves by relative u: measured, one by one. u is the unit roundoff.
In a type narrower than float32, sums are float32's: n terms add n u32 of the sum of their sizes, which moved inputs measure too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from gradarbiter.core import Array
from harness.sweep.op import Asked, Example, Op

UNIT = {"float64": 2.0**-53, "float32": 2.0**-24, "bfloat16": 2.0**-8, "float16": 2.0**-11}
# What underflows: float16 has its subnormal numbers, the others may be flushed to zero. A later factor, such as an input, makes it larger.
LEAST = {"float64": 2.0**-1022, "float32": 2.0**-126, "bfloat16": 2.0**-126, "float16": 2.0**-24}
STEP = 2.0**-7  # of the widest difference; inputs are multiples of 1/8 or far from kinks, so that none lies between
STEPS = 4  # each half of the one before
KINK = 1e-5  # relative: one-sided derivatives of a smooth function agree to 1e-7 where its inputs are 1/8 from a pole
NEAR = 2.0**-16  # a function's slopes this near to a kink are right at the kink, too
NEIGHBOURS = 32  # points near by: of four equal numbers, each is last in one of them but for 1 in 10,000
BESIDE = 1e-3  # relative: a slope that differs by more has another side of a kink, and not only another place
PLACES = 16  # of one input, at most, whose gradient is asked
MOVED = 2.0**-20  # relative, to measure the conditioning by
DRAWS = 4  # of which two are by chance


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Of one output: any number in [low, high] is right, give or take ``scale`` times unit roundoff and roundings; where not ``known``, nothing is asked."""

    low: Array
    high: Array
    change: Array  # a unit of relative movement of the inputs
    known: Array  # bool
    cancelled: Array | float = 0.0  # size of terms that a standard forward or backward subtracts from each other
    # At a kink, the derivative if all numbers move together, where that one is smooth: the sum of any valid subgradient; and its own error.
    total: float | None = None
    total_error: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Reference:
    output: Wanted
    gradients: Mapping[str, Wanted]

    def allowed(self, wanted: Wanted, op: Op, asked: Asked, dtype: str) -> Array:
        size = np.maximum(np.abs(wanted.low), np.abs(wanted.high))
        finite = np.where(np.isfinite(size), size, 0.0)
        unit = UNIT.get(dtype, 0.0)  # whole numbers are not rounded
        summed = op.terms(asked) * min(UNIT["float32"], unit) * (finite + wanted.change)
        factor = max([1.0, *(float(np.max(np.abs(_finite(t)), initial=0.0)) for t in asked.tensors.values())])
        return op.roundings * (unit * (finite + wanted.change + wanted.cancelled) + factor * LEAST.get(dtype, 0.0)) + summed


@np.errstate(all="ignore")
def ask(op: Op, example: Example) -> Reference:
    """The reference of one example; ``use`` changes what is asked: twice doubles it, a chain leaves it as it is."""
    times = 2.0 if example.use == "twice" else 1.0
    tensors, attributes = dict(example.asked.tensors), example.asked.attributes

    def forward(**moved: Array) -> Array:
        return times * np.asarray(op.forward(**{**tensors, **moved}, **attributes), dtype=np.float64)

    part = op.held(tensors) if op.held else op.forward

    def differentiated(**moved: Array) -> Array:
        return times * np.asarray(part(**{**tensors, **moved}, **attributes), dtype=np.float64)

    rng = np.random.default_rng(0)
    want = forward()
    change = np.zeros(want.shape)
    for draw in range(DRAWS):
        each = [np.abs(forward(**{name: _moved(tensors[name], rng, draw)}) - want) / MOVED for name in example.floats]
        change = np.fmax(change, np.sum([_finite(one) for one in each], axis=0))
    cancels = op.cancels(example.asked, times * np.abs(example.upstream))
    output = Wanted(
        low=want, high=want, change=_finite(change), known=np.ones(want.shape, dtype=bool), cancelled=times * cancels.get("y", 0.0)
    )
    gradients = {}
    # What the differences of a float64 forward are off by: that one's own roundings, over the step.
    inexact = np.abs(_finite(want)) + output.change + output.cancelled
    rough = (64 + op.terms(example.asked)) * UNIT["float64"] * inexact * np.abs(example.upstream) / STEP
    if op.gradient:
        for name in example.floats:
            gradients[name] = dataclasses.replace(
                _gradient(differentiated, tensors, name, example, rough, rng), cancelled=cancels.get(name, 0.0)
            )
    return Reference(output=output, gradients=gradients)


def _gradient(
    forward: Callable[..., Array], tensors: dict[str, Array], name: str, example: Example, rough: Array, rng: np.random.Generator
) -> Wanted:
    value, upstream = tensors[name], example.upstream
    base = forward()
    low, high, error = np.zeros(value.shape), np.zeros(value.shape), np.zeros(value.shape)
    known = np.zeros(value.shape, dtype=bool)
    for place in _places(value.shape):
        least, most, error[place] = _slopes(forward, tensors, name, place, upstream, base, rough)
        if least is None or most is None or not np.isfinite(least + most):
            continue
        low[place], high[place], known[place] = least, most, True
    if _kinked(forward, tensors, name, upstream, low, high, known):
        _widen(forward, tensors, name, example, low, high, known)
    change = _conditioning(forward, tensors, name, example, [tuple(at) for at in np.argwhere(known & (low == high))], rng)
    # The differences' own error, so that float64 is not held to better than they are: what they left out, and what the forward is off by.
    noise = error + float(np.sum(rough)) + 1e-11 * np.maximum(np.abs(low), np.abs(high))
    total, total_error = None, 0.0
    if known.all() and np.any(high > low):
        least, most, left_out = _slopes(forward, tensors, name, ..., upstream, base, rough)
        total = least if least == most else None
        total_error = left_out + float(np.sum(noise - error)) + KINK * abs(total or 0.0)  # what tells a kink apart can be no nearer
    return Wanted(low=low - noise, high=high + noise, change=_finite(change), known=known, total=total, total_error=total_error)


def _kinked(
    forward: Callable[..., Array], tensors: dict[str, Array], name: str, upstream: Array, low: Array, high: Array, known: Array
) -> bool:
    """Whether some number has two slopes, or the slope in one direction is not what those of single numbers add up to, as of a median of three equal ones."""
    if np.any(high > low) or not known.all():
        return bool(np.any(high > low))
    direction = np.random.default_rng(0).uniform(-1, 1, low.shape)
    sides = [forward(**{**tensors, name: tensors[name] + sign * NEAR * direction}) for sign in (1, -1)]
    slope = float(np.sum((sides[0] - sides[1]) * upstream)) / (2 * NEAR)
    return abs(slope - float(np.sum(low * direction))) > BESIDE * float(np.sum(np.abs(low)) + np.sum(np.abs(upstream)))


def _widen(
    forward: Callable[..., Array], tensors: dict[str, Array], name: str, example: Example, low: Array, high: Array, known: Array
) -> None:
    """At a kink any slope that the function has nearby is right: of three equal numbers, one that moves alone is never the middle one."""
    rng, upstream, step = np.random.default_rng(0), example.upstream, NEAR / 2**10
    size = max(float(np.max(np.maximum(np.abs(low), np.abs(high)))), 1e-6)
    for _ in range(NEIGHBOURS):
        beside = {n: tensors[n] + NEAR * rng.uniform(-1, 1, tensors[n].shape) for n in example.floats}
        for place in map(tuple, np.argwhere(known)):
            at = np.array(beside[name])
            at[place] += step
            above = forward(**{**tensors, **beside, name: at})
            at[place] -= 2 * step
            slope = float(np.sum((above - forward(**{**tensors, **beside, name: at})) * upstream)) / (2 * step)
            if slope < low[place] - BESIDE * size:
                low[place] = slope
            elif slope > high[place] + BESIDE * size:
                high[place] = slope


def _conditioning(
    forward: Callable[..., Array],
    tensors: dict[str, Array],
    name: str,
    example: Example,
    places: list[tuple[int, ...]],
    rng: np.random.Generator,
) -> Array:
    """How the derivative changes where one of the inputs, or the upstream gradient, moves; one by one, since together these might cancel.

    One difference is enough: what it leaves out is nearly the same on both sides, and its rounding is 1e-8 of a unit of change.
    """
    at = np.array(tensors[name], dtype=np.float64)

    def slope(place: tuple[int, ...], inputs: dict[str, Array], upstream: Array) -> float:
        at[...] = inputs[name]
        sides = []
        for sign in (1, -1):
            at[place] = inputs[name][place] + sign * STEP
            sides.append(forward(**{**inputs, name: at}))
        changed = sides[0] - sides[1]
        return float(np.sum(np.where(upstream == 0, 0.0, changed * upstream))) / (2 * STEP)

    base = {place: slope(place, tensors, example.upstream) for place in places}
    change = np.zeros(at.shape)
    for draw in range(DRAWS):
        moved = np.zeros(at.shape)
        for part in (*example.floats, None):  # None: the upstream gradient
            inputs = tensors if part is None else {**tensors, part: _moved(tensors[part], rng, draw)}
            pushed = _moved(example.upstream, rng, draw) if part is None else example.upstream
            for place in places:
                moved[place] += abs(slope(place, inputs, pushed) - base[place]) / MOVED
        change = np.maximum(change, moved)
    return change


def _slopes(
    forward: Callable[..., Array], tensors: dict[str, Array], name: str, place: Any, upstream: Array, base: Array, rough: Array
) -> tuple[float | None, float | None, float]:
    """The least and the largest right derivative, of one number or of all together, and what the differences left out; None where it jumps.

    Each number of the output has its own kink: where windows overlap, one may have chosen this place, and another not.
    """
    at, value = np.array(tensors[name], dtype=np.float64), tensors[name][place]
    one_sided: dict[int, list[Array]] = {1: [], -1: []}
    for halving in range(STEPS):
        for sign in (1, -1):
            moved = sign * STEP / 2**halving
            at[place] = value + moved
            changed = forward(**{**{n: t for n, t in tensors.items() if n != name}, name: at}) - base
            one_sided[sign].append(np.where(upstream == 0, 0.0, changed * upstream).ravel() / moved)
    right, left = (np.stack(one_sided[sign]) for sign in (1, -1))  # [step, number of the output]
    if not (np.isfinite(right).all() and np.isfinite(left).all()):
        return None, None, 0.0
    for s in (np.abs(left), np.abs(right)):
        if np.any((s[-1] > 1.5 * s[-2]) & (1.5 * s[-2] > 2 * s[-3]) & (s[-1] > 1.0)):
            return None, None, 0.0  # grows as the step shrinks: a jump, or an infinite slope
    from_left, from_right = _to_zero(2.0, STEPS) @ left, _to_zero(2.0, STEPS) @ right
    middle = (right + left) / 2  # of an odd error nothing is left: a power of the step is two
    smooth = _to_zero(4.0, STEPS) @ middle
    size = max(float(np.max(np.abs([from_left, from_right]), initial=0.0)), float(np.sum(np.abs(upstream)) * 1e-6))
    kinked = np.maximum(np.abs(from_right - from_left), np.abs(smooth - (from_left + from_right) / 2)) > KINK * size + rough.ravel()
    least = np.where(kinked, np.minimum(from_left, from_right), smooth)
    most = np.where(kinked, np.maximum(from_left, from_right), smooth)
    sides = np.maximum(*(np.abs(_to_zero(2.0, STEPS) @ s - _to_zero(2.0, STEPS - 1) @ s[1:]) for s in (left, right)))
    error = np.where(kinked, sides, np.abs(smooth - _to_zero(4.0, STEPS - 1) @ middle[1:]))
    return float(least.sum()), float(most.sum()), float(error.sum())


@cache
def _to_zero(ratio: float, count: int) -> Array:
    """Weights of differences at 1, 1/ratio, ... that extrapolate them to 0: the polynomial through them, there."""
    at = ratio ** -np.arange(count)
    return np.array([np.prod([other / (other - mine) for other in at if other != mine]) for mine in at])


def _moved(values: Array, rng: np.random.Generator, draw: int) -> Array:
    """Each number a little up or down, by the same share of itself: all up, neighbours apart, then by chance; of two terms, one draw shows the sum of sizes."""
    neighbours = 1.0 - 2 * (np.indices(values.shape).sum(axis=0) % 2)
    signs = 1.0 if draw == 0 else neighbours if draw == 1 else rng.choice([-1.0, 1.0], values.shape)
    return values * (1 + MOVED * signs)


def _places(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """All places, or as many spread over the array."""
    count = int(np.prod(shape, dtype=int))
    flat = np.unique(np.linspace(0, count - 1, min(count, PLACES)).astype(int)) if count else np.zeros(0, dtype=int)
    return [tuple(int(i) for i in np.unravel_index(at, shape)) for at in flat]


def _finite(values: Array) -> Array:
    return np.where(np.isfinite(values), values, 0.0)
