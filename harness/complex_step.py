"""Gradients of a formula by complex steps, exact to rounding; careful that the formula is analytic where it is asked: no abs, and max only of real parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from gradarbiter.core import Array

STEP = 1e-30  # far below any rounding: f(x + ih) = f(x) + ih f'(x), without a difference that could cancel


def gradients(loss: Callable[..., Array], tensors: Mapping[str, Array], names: Iterable[str]) -> dict[str, Array]:
    """``d<name>`` of the scalar ``loss(**tensors)``, for each of ``names``, in that tensor's type.

    Raises:
        TypeError: a tensor is in a type that has no complex form (bfloat16).
    """
    found = {}
    for name in names:
        value = np.asarray(tensors[name])
        if value.dtype not in (np.float32, np.float64):
            raise TypeError(f"{name} is {value.dtype}, which has no complex form")
        grad = np.empty_like(value)
        moved = value.astype(np.result_type(value.dtype, np.complex64))
        for place in np.ndindex(value.shape):
            moved[place] = value[place] + 1j * STEP
            grad[place] = np.imag(loss(**{**tensors, name: moved})) / STEP
            moved[place] = value[place]
        found[f"d{name}"] = grad
    return found
