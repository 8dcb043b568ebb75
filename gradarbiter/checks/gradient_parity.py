"""Loss, outputs and gradients agree with a second implementation, or with a float64 copy of the model; careful to allow what healthy rounding does, no more.

In evaluation mode, so that no random mask has to be the same twice; but gradients of the float64 copy are taken in training mode, as other checks take them,
where the model's own are the same to the bit in both. How far a healthy answer may be off follows from the dtype that products are meant to be
computed in (`expect.dtype`, or autocast's, or the narrowest trainable parameter's) with unit roundoff u, and from a measurement: the reference is asked again
with every parameter changed by u of itself, at random. The distance S between its two answers is what one rounding a weight does to *this* gradient, however
ill-conditioned. Backward and forward round each intermediate result as well, a few times as many numbers, and sum n products in float32 or wider, an error that
grows like a random walk: allowed is (8 + sqrt(n) u32 / u) S, with n the longest of an axis of a parameter and the positions of the batch. A gradient that is
zero by symmetry has S = 0 and is still rounded: so also u |L| / ||w||, which to first order changes the loss L by one rounding if the parameter is moved by its
whole size. All norms are Euclidean, over a parameter.

Against a float64 copy (`subject.wide`) what the code rounds without being asked shows, and what is wrong in one dtype only. What both share does not: wrong
formulas, and numbers rounded when the model was made (tables of angles). These take a `reference`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradarbiter import core, slopes
from gradarbiter.core import Array, Deviation
from gradarbiter.first_step import Gradients
from gradarbiter.result import Finding, NotAsked
from gradarbiter.subject import Answer, Arrays, Expect, Subject

UNITS = {"float64": 2.0**-53, "float32": 2.0**-24, "tensorfloat32": 2.0**-11, "float16": 2.0**-11, "bfloat16": 2.0**-8}
SHOWN = 8  # of the parameters that differ


@dataclass(frozen=True, kw_only=True)
class Second:
    """What the subject is held against, at its parameters and at parameters that are rounded once."""

    name: str
    exact: Answer
    rounded: Answer


def gradient_parity(subject: Subject, expect: Expect) -> list[Finding]:
    dtype = expect.dtype or _computes(subject)
    if dtype not in UNITS:
        raise ValueError(
            f"found:   expect.dtype = {dtype!r}\nwanted:  one of {', '.join(UNITS)}\ndo this: name the dtype of matrix products"
        )
    unit, batch = UNITS[dtype], slopes.few_rows(subject)
    loss, gradients = subject.gradients(batch, training=False)
    outputs = _outputs(subject, batch)
    values = subject.read()
    second = _second(subject, values, gradients, batch, unit)
    if not math.isfinite(loss) and not math.isfinite(second.exact.loss):
        raise NotAsked(f"the loss is {loss}, and {second.name} says {second.exact.loss}: see gradient_flow")
    factor = _factor(values, outputs, unit)
    allowance = f"{dtype}: {factor:.0f} roundings"
    findings = []

    def compare(got: Array, want: Array, rounded: Array, floor: float) -> Deviation:
        limit = factor * slopes.norm(rounded.astype(np.float64) - want) + floor
        return core.deviation(got, want, rtol=0.0, atol=limit / math.sqrt(max(1, want.size)), norm="normwise")

    exact, rounded = second.exact, second.rounded
    floor = factor * unit * abs(exact.loss)
    at = compare(np.asarray(loss), np.asarray(exact.loss), np.asarray(rounded.loss), floor)
    if not at.holds:
        findings.append(_finding("loss", "loss", f"{loss:.8g}, and {second.name} says {exact.loss:.8g}", at, allowance))
    if outputs is not None and exact.outputs is not None and outputs.shape != exact.outputs.shape:
        findings.append(_shape("outputs", outputs, exact.outputs, second))
    elif outputs is not None and exact.outputs is not None and rounded.outputs is not None:
        at = compare(outputs, exact.outputs, rounded.outputs, unit * slopes.norm(outputs))
        if not at.holds:
            text = f"{second.name} differs, most at {at.where}: {at.got:.6g} for {at.want:.6g}"
            findings.append(_finding("outputs", "outputs", text, at, allowance))
    forward = not findings
    sizes, off = slopes.sizes({name: values[name] for name in gradients}), dict[str, Deviation]()
    for name, gradient in gradients.items():
        if name not in exact.gradients or name not in rounded.gradients:
            continue
        want = exact.gradients[name]
        got = np.zeros_like(want) if gradient is None else gradient
        if got.shape != want.shape:
            findings.append(_shape(name, got, want, second))
            continue
        at = compare(got, want, rounded.gradients[name], unit * abs(exact.loss) / sizes[name])
        if not at.holds:
            off[name] = at
    return findings + _gradients(off, gradients, second, allowance, forward=forward)


def _gradients(
    off: Mapping[str, Deviation], gradients: Mapping[str, Array | None], second: Second, allowance: str, *, forward: bool
) -> list[Finding]:
    found = []
    for name in sorted(off, key=lambda name: -off[name].ratio)[:SHOWN]:
        size = slopes.norm(np.asarray(second.exact.gradients[name]))
        share = off[name].error / size if size else math.inf
        if gradients[name] is None:
            found.append(_finding("missing", name, f"no gradient; {second.name} has one of norm {size:.3g}", off[name], allowance))
        else:
            found.append(_finding("gradient", name, f"{second.name}'s gradient differs by {share:.2g} of its norm", off[name], allowance))
    if len(off) > SHOWN:
        text = f"{len(off)} of {len(gradients)} gradients differ; first in order {next(iter(off))}, last {list(off)[-1]}"
        text += "; loss and outputs agree: what comes after the last has a wrong backward" if forward else ""
        found.append(Finding(kind="extent", parameter="gradients", text=text, numbers={"gradients": len(off)}, accuses=False))
    return found


def _shape(name: str, got: Array, want: Array, second: Second) -> Finding:
    return Finding(kind="shape", parameter=name, text=f"shape {got.shape}, {second.name} has {want.shape}: not compared")


def _finding(kind: str, name: str, text: str, at: Deviation, allowance: str) -> Finding:
    text = f"{text} ({at.ratio:.3g} times what is allowed, {allowance})"
    return Finding(kind=kind, parameter=name, text=text, numbers={"ratio": at.ratio, "error": at.error, "limit": at.limit})


def _second(subject: Subject, values: Arrays, gradients: Gradients, batch: Any, unit: float) -> Second:
    exact = {name: np.asarray(value, dtype=np.float64) for name, value in values.items()}
    draw = np.random.default_rng(0)
    rounded = {name: np.asarray(value * (1 + unit * draw.standard_normal(value.shape))) for name, value in exact.items()}
    if subject.reference is not None:
        ask = subject.reference
        return Second(name="the reference", exact=ask(exact, batch), rounded=ask(rounded, batch))
    wide = subject.wide()
    if wide is None:
        raise NotAsked("nothing to compare with: give reference=, a second implementation (this framework has no float64 copy)")
    training = _same(subject.gradients(batch)[1], gradients)
    answer = _answer(wide, training=training)
    wide.write(rounded)
    return Second(name="a float64 copy", exact=answer, rounded=_answer(wide, training=training))


def _same(one: Gradients, other: Gradients) -> bool:
    """To the bit; None equals None alone."""
    return all(np.array_equal(np.asarray(g), np.asarray(other[name])) for name, g in one.items())


def _answer(wide: Subject, *, training: bool) -> Answer:
    batch = slopes.few_rows(wide)
    loss, gradients = wide.gradients(batch, training=training)
    found = {name: np.zeros(1) if g is None else g for name, g in gradients.items()}
    return Answer(loss=loss, gradients={n: g for n, g in found.items() if gradients[n] is not None}, outputs=_outputs(wide, batch))


def _outputs(subject: Subject, batch: Any) -> Array | None:
    try:
        return subject.outputs(batch)
    except NotAsked:
        return None


def _computes(subject: Subject) -> str:
    ask = getattr(subject, "computes", None)  # an adapter that knows of autocast
    if ask is not None:
        return str(ask())
    trained = [p.dtype for p in subject.parameters() if p.trainable]
    return max(trained, key=lambda dtype: UNITS.get(dtype, 0.0), default="float32")


def _factor(values: Arrays, outputs: Array | None, unit: float) -> float:
    longest = max((max(value.shape, default=1) for value in values.values()), default=1)
    positions = 1 if outputs is None or outputs.ndim < 2 else outputs.size // outputs.shape[-1]
    return 8 + math.sqrt(max(longest, positions)) * min(1.0, UNITS["float32"] / unit)
