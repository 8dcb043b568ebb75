"""What a gradient at the logits says about the loss that it came from; careful to read it off the numbers alone, in float64, as no code of the loss does.

The mean cross-entropy over N scored positions with targets y has, at each of them, the gradient w (softmax(z) - onehot(y)) with w = 1/N, and 0 elsewhere. With
label smoothing e it is w (softmax(z) - (1 - e) onehot(y) - e/V); with a z-loss k lse(z)^2 it is w ((1 + 2 k lse) softmax(z) - onehot(y)). So for all of them

    gradient = a softmax(z) - b onehot(y) - c,    w = b + c V,    e = c V / w,    2 k lse = a / w - 1

and y is the one negative entry. a and c are fitted (least squares) to the entries of the other classes, b is what remains at y.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from gradarbiter import probe
from gradarbiter.core import Array
from gradarbiter.result import NotAsked
from gradarbiter.subject import Expect, Subject

SHIFTS = (1, 0, 2, -1, 3, -2, 4)  # of a target against its input, the healthy one first
LIKE = 0.05  # share of the gradient that may be left over: bfloat16's rounding leaves a hundredth, another loss about all
CHANCE = 1e-6  # of a few masked tokens, say, all of which happen to stand elsewhere in the text too
FLAT = 1e-3  # where the softmax varies by less than this share, smoothing cannot be told from it


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Arrays of the outputs' shape without the last axis, the classes."""

    target: Array  # -1 where the position has no gradient
    weight: Array
    smoothing: Array
    louder: Array  # a / w - 1
    rest: Array  # share of the gradient that is not explained
    error: Array  # of smoothing and louder, by the rounding of the gradient
    lse: Array
    nll: Array  # -log softmax(z)[target]
    chance: Array  # the same for a target drawn at random: lse(z) - mean(z), at least ln V
    classes: Array  # that take part in the softmax
    deviation: Array  # of the logits of those, within the position

    @property
    def scored(self) -> Array:
        return np.asarray(self.target >= 0)

    @property
    def is_one(self) -> bool:
        """Is it the gradient of a cross-entropy of these outputs at all?"""
        at = self.scored
        return bool(at.any()) and float(np.median(self.rest[at])) < LIKE and bool((self.weight[at] > 0).all())


def read(outputs: Array, gradient: Array) -> Reading:
    """A row of the batch at a time: a float64 copy of all logits would be large."""
    own = probe.unit(gradient)
    parts = [_read(np.atleast_2d(z), np.atleast_2d(g), own) for z, g in zip(outputs, gradient, strict=True)]
    shape = outputs.shape[:-1]
    return Reading(**{f.name: np.stack([getattr(part, f.name) for part in parts]).reshape(shape) for f in fields(Reading)})


def _read(logits: Array, gradient: Array, own: float) -> Reading:
    z, g = logits.astype(np.float64), gradient.astype(np.float64)
    row, some = np.arange(len(z)), g.any(axis=1)
    masked = ~g[some].any(axis=0)  # classes that the loss masks after the outputs: they never have a gradient
    if masked.sum() < masked.size / 2:
        z[:, masked] = -np.inf
    top = z.max(axis=1, keepdims=True)
    e = np.exp(z - top)
    total = e.sum(axis=1, keepdims=True)
    p, lse = e / total, (top + np.log(total))[:, 0]
    live = p > 0  # a logit that is masked by -inf or -1e9 takes no part
    classes = live.sum(axis=1)
    y = g.argmin(axis=1)
    with np.errstate(all="ignore"):  # what comes of positions without a gradient, or with one class, is not used
        n, p_y, g_y = classes - 1, p[row, y], g[row, y]
        sum_p, sum_g = 1 - p_y, g.sum(axis=1) - g_y
        sum_pp, sum_gp = (p * p).sum(axis=1) - p_y**2, (g * p).sum(axis=1) - g_y * p_y
        varies = np.sqrt(np.maximum(0, 1 - sum_p**2 / (n * sum_pp)))
        flat = ~(varies > FLAT)
        a = np.where(flat, sum_g / sum_p, (sum_gp - sum_p * sum_g / n) / (sum_pp - sum_p**2 / n))
        c = np.where(flat, 0.0, (a * sum_p - sum_g) / n)
        b = a * p_y - c - g_y
        weight = b + c * classes
        left = np.where(live, g - a[:, None] * p + c[:, None], g)
        left[row, y] = 0.0
        rest = np.linalg.norm(left, axis=1) / np.sqrt(np.maximum((g * g).sum(axis=1) - g_y**2, 1e-300))
        mean = np.where(live, z, 0.0).sum(axis=1) / classes
        return Reading(
            target=np.where(some, y, -1),
            weight=np.where(some, weight, 0.0),
            smoothing=c * classes / weight,
            louder=a / weight - 1,
            rest=rest,
            error=np.where(flat, np.inf, own / varies),
            lse=lse,
            nll=lse - z[row, y],
            chance=lse - mean,
            classes=classes,
            deviation=np.sqrt(np.where(live, (z - mean[:, None]) ** 2, 0.0).sum(axis=1) / classes),
        )


def shift(reading: Reading, ids: Array, *, but: Array) -> int | None:
    """The k for which every scored position's target is the token k places on, positions in ``but`` aside; None: there is none that chance would not give."""
    needed = np.log(len(SHIFTS) / CHANCE) / np.log(
        max(2, len(np.unique(ids)))
    )  # targets, each of which agrees once in so many different tokens
    for k in SHIFTS:
        right, known = agrees(reading, ids, k, but=but)
        if known.sum() >= needed and right[known].all():
            return k
    return None


def agrees(reading: Reading, ids: Array, k: int, *, but: Array) -> tuple[Array, Array]:
    """Where a target is the token k places on, and where that can be known: the last target may stand in the batch's targets alone."""
    at = np.arange(reading.target.shape[1]) + k
    inside = (at >= 0) & (at < ids.shape[1])
    wanted = ids[:, np.clip(at, 0, ids.shape[1] - 1)]
    return reading.target == wanted, reading.scored & ~but & inside


def padded(ids: Array, length: int, expect: Expect) -> Array:
    """Positions whose next token is padding (or a negative id, which no model can be asked for)."""
    after = np.full((len(ids), length), 0)
    have = min(length, ids.shape[1] - 1)
    after[:, :have] = ids[:, 1 : have + 1]
    return (after < 0) | (after == expect.padding if expect.padding is not None else False)


def trains_next_token(subject: Subject, expect: Expect) -> bool:
    """Is it evident that each scored position is trained for a token of the batch some places on?"""
    if expect.next_token is not None:
        return expect.next_token
    try:
        _, outputs, gradient = subject.output_gradient()
        length = probe.positions(subject, outputs).shape[1]
    except NotAsked:
        return False
    reading, ids = read(outputs, gradient), subject.tokens()
    k = shift(reading, ids, but=padded(ids, length, expect)) if reading.is_one else None
    return k is not None and k > 0
