"""What follows a gradient: samplers of an optimizer's steps, of clipping and of the learning rate, and the loop that optimizers' definitions share.

Careful that a step can be one without a gradient, and that what narrow types cannot hold is asked where a type is wide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradarbiter.core import Array
from harness.sweep.draw import Draw
from harness.sweep.kinds import LONG, Sampler
from harness.sweep.op import Asked

STEPS = 10
LATE = 4  # steps before the first gradient that is not zero
TINY = 2.0**-20


def optimizer(*, low: int = 0, high: int = 4, absent: bool = False, **attributes: tuple[Any, ...]) -> Sampler:
    """A parameter ``p`` of ``low`` to ``high`` axes and its gradients ``g`` [STEPS, *shape]; with ``absent``, some steps bring none to it."""

    def takes(d: Draw) -> Asked:
        shape = d.shape(low, high, size=3)
        p, g = d.floats(*shape), d.floats(STEPS, *shape, styles=("grid", "normal", "ones"))
        kind = d.choose("plain", "plain", "tiny", "late", "zero")
        if kind == "late":
            g[:LATE] = 0
        given = {name: d.choose(*options) for name, options in attributes.items()}
        if absent:
            given["absent"] = d.choose([0, 1, 2], [4], [3, 7, 8])
        return Asked(tensors={"p": p, "g": g * {"tiny": TINY, "zero": 0.0}.get(kind, 1.0)}, attributes=given)

    return takes


def steady(**attributes: tuple[Any, ...]) -> Sampler:
    """A parameter whose gradient stays the same."""

    def takes(d: Draw) -> Asked:
        shape = d.shape(0, 2)
        g = np.broadcast_to(d.floats(*shape), (4 * STEPS, *shape)).copy()
        return Asked(tensors={"p": d.floats(*shape), "g": g}, attributes={name: d.choose(*options) for name, options in attributes.items()})

    return takes


def clipped(**attributes: tuple[Any, ...]) -> Sampler:
    """Two gradients, ``a`` and ``b``; their squares may be too large, or too many, for a narrow type."""

    def takes(d: Draw) -> Asked:
        styles = ("grid", "normal", "large", "small", *(("nan", "inf") if d.wide else ()))
        a = d.floats(LONG, 2, styles=("ones", "grid")) if d.choose(False, False, True) else d.floats(*d.shape(), styles=styles)
        return Asked(tensors={"a": a, "b": d.floats(*d.shape(0, 2))}, attributes={name: d.choose(*v) for name, v in attributes.items()})

    return takes


def schedule(last: int = 24, **attributes: tuple[Any, ...]) -> Sampler:
    """Numbers of ``steps``, also past the schedule's end, and its options; a rate that every type holds, so that what is asked is the schedule."""

    def takes(d: Draw) -> Asked:
        start = d.choose(0, 1, 5)
        steps = np.arange(start, start + d.choose(5, 12, 3, last - 5), dtype=np.int64)
        return Asked(tensors={"steps": steps}, attributes={"lr": d.choose(0.5, 0.125), **{n: d.choose(*v) for n, v in attributes.items()}})

    return takes


def steps(p: Array, g: Array, step: Callable[[Array, Array, dict[str, Any], int], Array]) -> Array:
    """``step(p, grad, state, t)`` is the next p; a state not yet written is zero."""
    state: dict[str, Any] = {}
    for t, grad in enumerate(g, start=1):
        p = step(p, grad, state, t)
    return p


def mean(state: dict[str, Any], name: str, beta: float, value: Array) -> Array:
    """The moving mean of that name, after one more value."""
    state[name] = beta * state.get(name, 0.0) + (1 - beta) * value
    moved: Array = state[name]
    return moved


def present(g: Array, absent: Sequence[int]) -> Array:
    """The gradients of the steps that have one."""
    return np.delete(g, absent, axis=0)
