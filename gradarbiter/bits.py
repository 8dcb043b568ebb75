"""How many bits of a float's significand an array uses; careful that few bits show a narrower type only where the last one is used.

A float32 that went through bfloat16 keeps 8 significant bits (of 24), through half 11: the rest are zeros, which no arithmetic leaves behind by accident.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gradarbiter.core import Array

NARROW = {8: "bfloat16", 11: "float16"}
LEAST = 64  # values: 64 floats that end in 16 zeros by accident have a chance of 2^-1024


def significant(values: Array) -> npt.NDArray[np.int64]:
    """Bits from the first to the last that is set, of each finite value that is not 0."""
    flat = np.asarray(values, dtype=np.float64).ravel()
    flat = flat[np.isfinite(flat) & (flat != 0)]
    whole = np.abs(np.ldexp(np.frexp(flat)[0], 53)).astype(np.int64)
    lowest = np.frexp((whole & -whole).astype(np.float64))[1] - 1  # trailing zeros of the 53-bit integer
    used: npt.NDArray[np.int64] = 53 - lowest.astype(np.int64)
    return used


def narrowed(values: Array) -> int | None:
    """8 or 11 where the values went through a type with so many bits: none needs more, and two in five need all (half of random ones do)."""
    used = significant(values)
    if used.size < LEAST or len(np.unique(values)) < LEAST // 2:
        return None
    most = int(used.max())
    return most if most in NARROW and float((used == most).mean()) > 0.4 else None
