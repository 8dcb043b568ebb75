"""Evaluation is deterministic: the same outputs from other random numbers; careful to tell chance from kernels whose sums have no fixed order.

The model is called with the same inputs and another state of its framework's random generators. If outputs differ, both calls are repeated: where each gives
its own outputs again, to the bit, chance alone makes the difference, however small (dropout that evaluation leaves on, a sampled route).
"""

from __future__ import annotations

import numpy as np

from gradarbiter import probe
from gradarbiter.core import Array
from gradarbiter.result import Finding, NotAsked
from gradarbiter.subject import Expect, Subject


def mode(subject: Subject, expect: Expect) -> list[Finding]:  # noqa: ARG001  a check's signature
    probe.wake(subject)
    first, other = probe.defined(subject.outputs(seed=0)), subject.outputs(seed=1)
    if not first.any():
        raise NotAsked("every output is 0: ask after a training step")
    if np.array_equal(first, other, equal_nan=True):
        return []
    anew = subject.batch  # given as an argument, so that no remembered answer is repeated
    noise = max(_moved(subject.outputs(anew, seed=0), first), _moved(subject.outputs(anew, seed=1), other))
    chance, limit = _moved(other, first), probe.rounding(subject, first)
    numbers = {"other random numbers": chance, "the same": noise, "rounding": limit}
    if noise == 0:
        text = f"outputs in evaluation depend on random numbers: they differ by {chance:.1e} of the largest between two calls (is dropout left on?)"
        return [Finding(kind="random", parameter="outputs", text=text, numbers=numbers)]
    size = max(chance, noise)
    if size > limit:
        text = f"outputs in evaluation change by {size:.1e} of the largest from call to call: the model changes itself, or draws what no seed decides"
        return [Finding(kind="random", parameter="outputs", text=text, numbers=numbers)]
    text = f"outputs of the same call differ by {size:.1e} of the largest: sums in no fixed order"
    return [Finding(kind="rounding", parameter="outputs", text=text, numbers=numbers, accuses=False)]


def _moved(got: Array, want: Array) -> float:
    return float(probe.change(got, want).max())
