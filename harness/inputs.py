"""Makers of small inputs whose values every floating type holds exactly, bfloat16's eight bits included."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from gradarbiter.core import Array


def grid(rng: np.random.Generator, *shape: int, span: float = 2.0) -> Array:
    """Multiples of span/16 in [-span, span], none of them zero: no gradient is zero by accident. float64."""
    steps = rng.integers(1, 17, size=shape) * rng.choice([-1, 1], size=shape)
    values: Array = steps * (span / 16)
    return values


def positive(rng: np.random.Generator, *shape: int, span: float = 2.0) -> Array:
    """Multiples of span/16 in (0, span]. float64."""
    return rng.integers(1, 17, size=shape) * (span / 16)


def normal(rng: np.random.Generator, *shape: int, scale: float = 1.0) -> Array:
    """Normal numbers rounded to bfloat16: the realistic twin. float64."""
    rounded: Array = (rng.standard_normal(shape) * scale).astype(ml_dtypes.bfloat16).astype(np.float64)
    return rounded
