"""Array predicates, the one place where two answers are compared; careful that NaN, infinity and shape never compare as equal by accident."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Norm = Literal["elementwise", "normwise"]


@dataclass(frozen=True, kw_only=True)
class Deviation:
    """How far an answer is from what was wanted.

    ``ratio`` is error / allowed error, at the worst element (elementwise) or of the whole array (normwise): the answer holds where ratio <= 1.
    ``where``, ``got`` and ``want`` are the worst element. ``wrong`` counts elements over their limit, of ``size``.
    """

    ratio: float
    error: float
    limit: float
    got: float
    want: float
    where: tuple[int, ...]
    wrong: int
    size: int

    @property
    def holds(self) -> bool:
        return self.ratio <= 1.0


def deviation(got: Array, want: Array, *, rtol: float, atol: float, norm: Norm = "elementwise") -> Deviation:
    """Compare ``got`` with ``want`` (same shape), both taken as float64.

    Elementwise: ``|got - want| <= atol + rtol * |want|``. Normwise: ``||got - want|| <= atol * sqrt(size) + rtol * ||want||`` (Euclidean).
    NaN equals NaN, and an infinity equals itself, only where ``want`` says so.

    Raises:
        ValueError: the shapes differ (a broadcast comparison would hide a lost axis).
    """
    if got.shape != want.shape:
        raise ValueError(f"cannot compare shapes: found {got.shape}, wanted {want.shape}")
    if want.size == 0:
        return Deviation(ratio=0.0, error=0.0, limit=0.0, got=math.nan, want=math.nan, where=(), wrong=0, size=0)
    g, w = np.asarray(got, dtype=np.float64), np.asarray(want, dtype=np.float64)
    finite = np.isfinite(g) & np.isfinite(w)
    with np.errstate(invalid="ignore", over="ignore"):
        same = ~finite & ((np.isnan(g) & np.isnan(w)) | (g == w))
        error = np.where(finite, np.abs(g - w), np.where(same, 0.0, np.inf))
        limit = atol + rtol * np.where(np.isfinite(w), np.abs(w), 0.0)
        ratios = np.where(error == 0, 0.0, np.divide(error, limit, out=np.full_like(error, np.inf), where=limit > 0))
    index = np.unravel_index(int(np.argmax(ratios)), ratios.shape)
    if norm == "normwise":
        size = float(np.linalg.norm(error))
        allowed = atol * math.sqrt(w.size) + rtol * float(np.linalg.norm(np.where(finite, w, 0.0)))
        ratio = 0.0 if size == 0 else (size / allowed if allowed > 0 else math.inf)
        total, bound, wrong = size, allowed, int(w.size if ratio > 1 else 0)
    else:
        ratio, total, bound = float(ratios[index]), float(error[index]), float(limit[index])
        wrong = int(np.count_nonzero(ratios > 1))
    return Deviation(
        ratio=ratio,
        error=total,
        limit=bound,
        got=float(g[index]),
        want=float(w[index]),
        where=tuple(int(i) for i in index),
        wrong=wrong,
        size=int(w.size),
    )
