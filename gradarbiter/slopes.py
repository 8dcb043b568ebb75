"""The slope of a loss along a line of parameters, by differences; careful to say by how much it may be off, from rounding and from curvature.

Along a line the loss is read at -2h, -h, 0, h, 2h. Both central differences, of h and 2h, are slopes; Richardson's (4 s(h) - s(2h)) / 3 is exact up to h^4.
Curvature: the better value and s(h) differ by a third of |s(h) - s(2h)|, the whole of which is taken as the error. Rounding: a loss that is off by e moves the
value by sqrt(65 / 72) e / h, about e / h. What e is, is not believed but measured: third and fourth differences of five equally spaced values are free of the
smooth part (up to h^3), and e times sqrt(20) and sqrt(70) on average (Hamming); at least the rounding of one loss. Eight e: an estimate from three numbers is
itself uncertain by a factor of a few.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradarbiter.core import Array
from gradarbiter.probe import unit
from gradarbiter.result import NotAsked
from gradarbiter.subject import Arrays, Subject

# Positions that a check in float64 is content with: it asks whether numbers agree, for which no statistics over a batch is needed.
TOKENS = 256
TESTS = 128  # of parameters or groups of them, four losses or more each: a bound on the cost of naming the wrong ones of a large model
# A step h between the best for s(h), u^(1/3), and for the better value, u^(1/5), where rounding, u / h, equals h^2 and h^4.
FINE, COARSE = 2.0**-13, 2.0**-6  # in float64, in float32


@dataclass(frozen=True, kw_only=True)
class Slope:
    value: float
    error: float  # the true slope is no farther off
    even: float  # change of the loss at 2h that is the same on both sides
    noise: float  # e, of one loss


def slope(subject: Subject, start: Arrays, direction: Arrays, *, h: float, at_start: float, batch: Any = None) -> Slope:
    """Of the loss along ``start + t direction`` at t = 0; ``at_start`` is the loss there. The parameters are put back."""

    def loss(t: float) -> float:
        subject.write({name: np.asarray(start[name] + t * h * step) for name, step in direction.items()})
        return subject.loss(batch)

    try:
        low, left, right, high = map(loss, (-2, -1, 1, 2))
    finally:
        subject.write({name: start[name] for name in direction})
    if not all(map(math.isfinite, (low, left, at_start, right, high))):
        return Slope(value=math.nan, error=math.inf, even=math.nan, noise=math.inf)
    near, far = (right - left) / (2 * h), (high - low) / (4 * h)
    third = max(abs(right - 3 * at_start + 3 * left - low), abs(high - 3 * right + 3 * at_start - left)) / math.sqrt(20)
    fourth = abs(low - 4 * left + 6 * at_start - 4 * right + high) / math.sqrt(70)
    every = np.array([low, left, at_start, right, high])
    noise = max(third, fourth, unit(every) * float(np.abs(every).max()))  # by the digits of five: one may be a short number by accident
    return Slope(value=(4 * near - far) / 3, error=8 * noise / h + abs(near - far), even=(low + high) / 2 - at_start, noise=noise)


def rounding(loss: float) -> float:
    """What one loss is rounded to, by its own digits: a loss that was ever narrower than float64 shows it (as does one that is a short number)."""
    return unit(np.asarray(loss)) * abs(loss)


def norm(value: Array) -> float:
    """Euclidean, of an array whose squares may underflow."""
    largest = float(np.abs(value).max(initial=0.0))
    return 0.0 if largest == 0 else largest * float(np.linalg.norm((value / largest).astype(np.float64, copy=False)))


def sizes(values: Arrays) -> dict[str, float]:
    """How far a parameter is moved if it is moved by its own size: its norm. An all-zero one gets that of common initialisers, 1 / sqrt(longer side) each."""
    return {name: norm(value) or math.sqrt(value.size / _longer(value.shape)) for name, value in values.items()}


def random(values: Arrays, size: Mapping[str, float], seed: int = 0) -> dict[str, Array]:
    """A direction in which each parameter moves by its own size."""
    draw, made = np.random.default_rng(seed), {}
    for name, value in values.items():
        step = draw.standard_normal(value.shape)
        made[name] = np.asarray(step * (size[name] / (norm(step) or 1.0)))
    return made


def few_rows(subject: Subject) -> Any:
    """A part of a batch of tokens that shows every position, for checks in float64, which costs a multiple; any other batch as it is."""
    try:
        rows, positions = subject.tokens().shape
    except NotAsked:
        return subject.batch
    wanted = -(-TOKENS // positions)
    return subject.batch if wanted >= rows else subject.with_rows(range(wanted))


def culprits(names: Sequence[str], wrong: Callable[[Sequence[str]], bool], tests: int = TESTS) -> tuple[list[str], list[list[str]]]:
    """Those that are wrong alone; and groups that are wrong as a whole, where none was found, or looked for, in them. Many names are halved first."""
    alone, groups, queue = [], [], [list(names)]
    if len(names) <= tests:  # one by one: in a group errors add up and deviations may cancel
        alone = [name for name in names if wrong([name])]
        return alone, [] if alone else [list(names)]
    while queue:
        group = queue.pop(0)
        if len(group) == 1:
            alone.append(group[0])
            continue
        halves = [group[: len(group) // 2], group[len(group) // 2 :]]
        tests -= 2
        found = [half for half in halves if wrong(half)] if tests >= 0 else []
        queue += found
        if not found:
            groups.append(group)
    return alone, groups


def _longer(shape: Sequence[int]) -> float:
    return max(shape[0], math.prod(shape[1:]), 1) if shape else 1
