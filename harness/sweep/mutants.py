"""Proves the oracle of a sweep: machine-made wrong answers that an operation's examples must object to, and a healthy twin that they must not accuse."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from gradarbiter.core import Array
from harness.case import as_dtype
from harness.sweep import draw, explore, judge
from harness.sweep.op import Example, Op, carried

EXAMPLES = 24  # of each operation, of the sixty that a column is asked

NOTHING = 1e-6  # a slope that differences cannot tell from 0, as of a rounding, is 0


def healthy(op: Op, example: Example) -> dict[str, Array]:
    """The answer of a perfect framework: the reference, rounded once; at a kink the middle of the valid slopes, which a joint movement agrees with."""
    wanted = explore.wanted(op, example)
    times = 2.0 if example.use == "chain" else 1.0
    made = {"y": wanted.output.low}
    for name, gradient in wanted.gradients.items():
        nothing = (gradient.low <= 0) & (gradient.high >= 0)
        if gradient.total is not None:
            nothing &= gradient.high - gradient.low < NOTHING
        middle = np.where(gradient.known & ~nothing, (gradient.low + gradient.high) / 2, 0.0)
        if gradient.total is not None and abs(middle.sum()) > 0:
            middle = middle + (gradient.total - middle.sum()) * (gradient.high - gradient.low) / max(
                np.sum(gradient.high - gradient.low), 1e-300
            )
        made[f"d{name}"] = times * carried(middle, example.layouts.get(name, "contiguous"))
    return {name: as_dtype({name: array}, example.dtype)[name].astype(np.float64) for name, array in made.items()}


@np.errstate(all="ignore")
def judged(op: Op) -> dict[str, bool]:
    """Each kind of wrong answer that could be made of an operation, and whether it survives: no example objects to it."""
    alive: dict[str, bool] = {}
    for example, right in _answers(op):
        for name, wrong in _mutants(op, example, right):
            if alive.get(name, True):
                alive[name] = not list(judge.faults(op, example, explore.wanted(op, example), wrong))
    for example in _examples(op):
        if example.invalid:
            answered = explore.Reply(end="answer", arrays={"y": np.zeros(2)})
            alive["an answer to what only a refusal answers"] = not explore.faults(op, example, answered)
    return alive


@np.errstate(all="ignore")
def accused(op: Op) -> list[str]:
    """Examples whose rounded reference is accused."""
    return [
        f"{fault.kind} of {fault.what}: {fault.got} for {fault.want}; {example.told()}"
        for example, right in _answers(op)
        for fault in judge.faults(op, example, explore.wanted(op, example), right)
    ]


def _answers(op: Op) -> list[tuple[Example, dict[str, Array]]]:
    return [(example, healthy(op, example)) for example in _examples(op) if not example.invalid]


@cache
def _examples(op: Op) -> list[Example]:
    return draw.generated(op, EXAMPLES)


def _mutants(op: Op, example: Example, right: dict[str, Array]) -> Iterator[tuple[str, dict[str, Array]]]:
    """Wrong answers by name. One that equals the right answer, as a doubled zero does, is none."""
    for output, value in right.items():
        if output == "y" or np.any(value):  # a gradient that is zero is missed by nobody
            yield f"{output} dropped", {k: v for k, v in right.items() if k != output}
        for name, wrong in _of(op, example, output, value):
            if not np.array_equal(wrong, value, equal_nan=True):
                yield f"{output} {name}", {**right, output: wrong}


def _of(op: Op, example: Example, output: str, value: Array) -> Iterator[tuple[str, Array]]:
    wanted = explore.wanted(op, example)
    if value.size and np.isfinite(value).all():
        place = np.unravel_index(value.size // 2, value.shape)
        off = value.astype(np.float64).copy()
        off[place] += 3 * _allowed(op, example, output, place) + 2.0**-20 * abs(off[place])
        yield "one number off by 3x what is allowed", off
    yield "sign", -value
    yield "factor 2", 2 * value
    if example.use == "twice":
        yield "accumulated once instead of twice", value / 2
    if value.ndim >= 2:
        yield "transposed buffer read as contiguous", np.ascontiguousarray(value.swapaxes(-1, -2)).reshape(value.shape)
        yield "first row reused", np.broadcast_to(value[:1], value.shape).copy()
    if output == "y" and op.terms(example.asked) > judge.LONG and np.all(np.abs(wanted.output.low) > 2 * judge.LONG):
        yield "stopped at 256", np.clip(value, -256, 256)
    if np.isnan(value).any():
        yield "NaN read as 0", np.nan_to_num(value)


def _allowed(op: Op, example: Example, output: str, place: tuple[np.intp, ...]) -> float:
    """What the judge allows at one number of the answer, a kink's whole interval with it."""
    wanted = explore.wanted(op, example)
    if output == "y":
        of, times = wanted.output, 1.0
        allowed = wanted.allowed(of, op, example.asked, example.dtype) + op.slack(example.asked)
    else:
        of, times = wanted.gradients[output[1:]], 2.0 if example.use == "chain" else 1.0
        allowed = wanted.allowed(of, op, example.asked, example.dtype)
    layout = example.layouts.get(output[1:], "contiguous") if output != "y" else "contiguous"
    width = np.broadcast_to(allowed + (of.high - of.low), of.low.shape)
    return float(times * carried(width, layout)[place])
