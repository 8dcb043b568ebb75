"""What is wrong with an answer, as one word and its numbers; careful not to ask what nobody promises: a jump's slope, a number past the type's end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from gradarbiter.core import Array
from harness.case import as_dtype
from harness.sweep.op import Example, Op, carried
from harness.sweep.reference import Reference, Wanted

# Worst first: a row of the matrix has one finding a kind, and its word is that of the first.
KINDS = {
    "value": "the output is wrong",
    "gradient": "a gradient is wrong",
    "missing": "a gradient is not there",
    "not accumulated": "a tensor that is used twice gets the gradient of one use",
    "saturates": "a long sum in a low type stops growing",
    "makes NaN": "NaN where the right number is finite",
    "hides NaN": "a number where NaN is right",
    "accepts": "an answer to arguments that only a refusal answers rightly",
    "mutates": "an argument is not what it was",
    "narrow": "float64 is given, and the answer is as exact as float32",
    "order-dependent": "asked again in the same process, the answer is another, and wrong",
    "crash": "the process died",
    "hang": "no answer in time",
    "loud": "it raised",
}
TOP = {"float64": 1.7e308, "float32": 3.4e38, "bfloat16": 3.3e38, "float16": 65504.0}
LONG = 256  # terms from which a bfloat16 sum of ones can stop growing


@dataclass(frozen=True, kw_only=True)
class Fault:
    kind: str
    what: str  # of the answer: y, dx, ...
    got: float | str
    want: float | str
    ratio: float
    where: str = ""


def faults(op: Op, example: Example, reference: Reference, answer: Mapping[str, Array]) -> Iterator[Fault]:
    """Everything wrong with one answer: ``y``, ``d<name>`` of the buffer of each floating tensor, ``in.<name>`` what a buffer held afterwards, and
    ``again.*`` the same asked once more at the end of the process.
    """
    first = list(_arrays(op, example, reference, answer))
    yield from first
    for name in example.asked.tensors:
        before, after = as_dtype({name: example.buffer(name)}, example.dtype)[name].astype(np.float64), answer.get(f"in.{name}")
        if after is not None and not np.array_equal(before, np.asarray(after, dtype=np.float64).reshape(before.shape), equal_nan=True):
            yield Fault(kind="mutates", what=name, got="another buffer", want="the one it was given", ratio=np.inf)
    again = {name.removeprefix("again."): array for name, array in answer.items() if name.startswith("again.")}
    if again and not first:
        for fault in _arrays(op, example, reference, again):
            yield Fault(**{**fault.__dict__, "kind": "order-dependent"})


def _arrays(op: Op, example: Example, reference: Reference, answer: Mapping[str, Array]) -> Iterator[Fault]:
    yield from output(op, example, reference, answer.get("y"))
    finite = np.isfinite(reference.output.low)
    if np.any(np.abs(reference.output.low[finite]) > TOP.get(example.dtype, np.inf) / 2):
        return  # a gradient is made from the output, which is past the type's end
    for name, wanted in reference.gradients.items():
        yield from _gradient(op, example, reference, name, wanted, answer.get(f"d{name}"))


def output(op: Op, example: Example, reference: Reference, got: Array | None) -> Iterator[Fault]:
    """Everything wrong with the value alone."""
    wanted = reference.output
    got = _scalar(got, wanted.low.shape)
    if got is None:
        yield Fault(kind="value", what="y", got="no output", want=f"an array {wanted.low.shape}", ratio=np.inf)
        return
    if got.shape != wanted.low.shape:
        yield Fault(kind="value", what="y", got=str(got.shape), want=str(wanted.low.shape), ratio=np.inf)
        return
    for fault in _numbers(op, example, reference, wanted, got.astype(np.float64), "y", "value"):
        yield _saturated(op, example, fault)


def _saturated(op: Op, example: Example, fault: Fault) -> Fault:
    """The same fault, or where a long sum in a low type is too small, that it stopped growing."""
    low = example.dtype in ("bfloat16", "float16") and op.terms(example.asked) > LONG
    if low and fault.kind in ("value", "gradient") and isinstance(fault.got, float) and isinstance(fault.want, float):
        return Fault(**{**fault.__dict__, "kind": "saturates"}) if abs(fault.got) < 0.75 * abs(fault.want) else fault
    return fault


def _gradient(op: Op, example: Example, reference: Reference, name: str, wanted: Wanted, got: Array | None) -> Iterator[Fault]:
    layout = example.layouts.get(name, "contiguous")
    times = 2.0 if example.use == "chain" else 1.0  # the buffer holds half of what the operation sees, twice
    parts = (wanted.low, wanted.high, wanted.change, np.broadcast_to(wanted.cancelled, wanted.low.shape))
    bounds = [times * carried(of, layout) for of in parts]
    known = carried(wanted.known * 1.0, layout) == carried(np.ones(wanted.known.shape), layout)  # of a sum of several, all
    total = None if wanted.total is None else times * wanted.total
    want = Wanted(
        low=bounds[0],
        high=bounds[1],
        change=bounds[2],
        cancelled=bounds[3],
        known=known,
        total=total,
        total_error=times * wanted.total_error,
    )
    got = _scalar(got, want.low.shape)
    if got is None:
        if np.any(((want.low > 0) | (want.high < 0))[known]):  # no gradient is one of 0
            yield Fault(kind="missing", what=f"d{name}", got="no gradient", want=f"an array {want.low.shape}", ratio=np.inf)
        return
    if got.shape != want.low.shape:
        yield Fault(kind="gradient", what=f"d{name}", got=str(got.shape), want=str(want.low.shape), ratio=np.inf)
        return
    for fault in _numbers(op, example, reference, want, got.astype(np.float64), f"d{name}", "gradient"):
        if (
            example.use == "twice"
            and fault.kind == "gradient"
            and not any(_numbers(op, example, reference, want, 2.0 * got, "", "gradient"))
        ):
            yield Fault(**{**fault.__dict__, "kind": "not accumulated"})
        else:
            yield _saturated(op, example, fault)


def _scalar(got: Array | None, shape: tuple[int, ...]) -> Array | None:
    """One number as it was asked: on its way through numpy, and in Burn, a scalar has an axis of 1."""
    return got.reshape(shape) if got is not None and shape == () and got.shape == (1,) else got


def _numbers(op: Op, example: Example, reference: Reference, want: Wanted, got: Array, what: str, kind: str) -> Iterator[Fault]:
    """NaN where it does not belong, NaN that is gone, and the worst number beyond what is allowed."""
    allowed = reference.allowed(want, op, example.asked, example.dtype) + (op.slack(example.asked) if kind == "value" else 0.0)
    top = TOP.get(example.dtype, np.inf)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        known = want.known & (np.maximum(np.abs(want.low), np.abs(want.high)) + allowed < top / 2) | (want.known & ~np.isfinite(want.low))
        nan = np.isnan(want.low)
        yield from _first(known & ~nan & np.isfinite(want.low) & np.isnan(got), got, want.low, what, "makes NaN")
        yield from _first(known & nan & ~np.isnan(got), got, want.low, what, "hides NaN")
        both = known & np.isfinite(want.low) & ~np.isnan(got)
        error = np.where(both, np.maximum(np.maximum(want.low - got, got - want.high), 0.0), 0.0)
        infinite = known & np.isinf(want.low) & (got != want.low)
        ratio = np.where(infinite, np.inf, np.where(error > 0, error / allowed, 0.0))
        summed = float(np.sum(allowed)) + want.total_error
        whole = abs(float(np.sum(got)) - want.total) / summed if want.total is not None and both.all() else 0.0
    if whole > 1 >= ratio.max(initial=0.0):
        yield Fault(kind=kind, what=what, got=float(np.sum(got)), want=float(want.total or 0.0), ratio=whole, where="its sum")
    if ratio.size and ratio.max() > 1:
        at = np.unravel_index(int(np.argmax(ratio)), ratio.shape)
        middle = float((want.low[at] + want.high[at]) / 2) if np.isfinite(want.low[at]) else float(want.low[at])
        if example.dtype == "float64" and not infinite.any():
            # A kind of its own: an operation that is only this would hide what else is wrong with it.
            in_float32 = reference.allowed(want, op, example.asked, "float32") + (op.slack(example.asked) if kind == "value" else 0.0)
            kind = "narrow" if np.all(error <= in_float32) else kind
        yield Fault(kind=kind, what=what, got=float(got[at]), want=middle, ratio=float(ratio[at]), where=str([int(i) for i in at]))


def _first(wrong: Array, got: Array, want: Array, what: str, kind: str) -> Iterator[Fault]:
    if wrong.any():
        at = tuple(np.argwhere(wrong)[0])
        yield Fault(kind=kind, what=what, got=float(got[at]), want=float(want[at]), ratio=np.inf, where=str([int(i) for i in at]))
