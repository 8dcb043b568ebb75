"""What a repro asks and what is right: inputs, outputs with their references, and how the record says it fails; careful to ask no more than the judge did."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradarbiter.core import Array
from harness.cell import Cell
from harness.errors import BadInput
from harness.record import Record
from harness.repro.literals import rounded_up
from harness.sweep import explore
from harness.sweep.judge import TOP
from harness.sweep.op import Asked, Example, Op, carried
from harness.sweep.reference import Reference, Wanted

SUM = "its sum"  # where a record says that no number alone is wrong: of a tie, any share may be right
TOTAL = "sum of "  # what the output is called then
PLACE = re.compile(rf" at (\[[\d, ]*\]|{SUM})")
CLOSE = re.compile(r"worst at \w+(\[[\d, ]*\])")
NOT_ALONE = ("order-dependent",)  # shows only after other examples, in one process
NARROWLY = 1.2  # times the largest allowed error: rounding that up would hide it
HIDES = 8.0  # times the largest allowed error: what a failure is at least, so that one allowed error will do for all numbers


@dataclass(frozen=True, kw_only=True)
class Output:
    """One output: what is right, and the error that is allowed. Where ``want`` is not ``known`` nothing is asked."""

    name: str
    want: Array
    rtol: float
    atol: Array | float
    normwise: bool = False
    known: Array | None = None

    @property
    def partial(self) -> bool:
        return self.known is not None and not self.known.all()


@dataclass(frozen=True, kw_only=True)
class Failing:
    """How one output fails in the record. ``got`` is a number, or the word for what there was instead."""

    name: str
    kind: str  # close, present or shape; of a sweep its own kinds
    got: float | str
    want: float | str
    place: str = ""


@dataclass(frozen=True, kw_only=True)
class Question:
    cell: Cell
    record: Record
    expects: str  # numbers, or a refusal
    tensors: Mapping[str, Array]  # as the framework is given them: of a view, its buffer
    outputs: tuple[Output, ...]
    failing: tuple[Failing, ...]
    example: Example | None = None
    gradient: bool = True
    watched: bool = False  # of candle: its inputs are variables though no gradient is asked, as an operation that takes one itself needs
    one_thread: bool = False  # as cells are asked: a sum that is split between threads is shorter

    @property
    def dtype(self) -> str:
        return self.example.dtype if self.example else self.cell.dtype


def number(value: float | str) -> float | str:
    """A record's number: NaN and infinities stand there as words."""
    return float(value) if isinstance(value, int | float) or value in ("nan", "inf", "-inf") else value


def of_case(cell: Cell, record: Record) -> Question:
    """The question of an ordinary cell.

    Raises:
        BadInput: an output is too large to stand in a file a person reads.
    """
    spec = cell.spec
    outputs = []
    for check in spec.check_list():
        want, tol = np.asarray(spec.want[check.output], dtype=np.float64), spec.tolerance(check, cell.dtype)
        outputs.append(Output(name=check.output, want=want, rtol=tol.rtol, atol=tol.atol, normwise=check.norm == "normwise"))
    failing = []
    for check in record["checks"]:
        name, _, kind = check["check"].rpartition(" ")
        if not check["holds"]:
            place = CLOSE.search(check["note"])
            failing.append(
                Failing(name=name, kind=kind, got=number(check["got"]), want=number(check["want"]), place=place[1] if place else "")
            )
    if record["status"] == "loud":
        failing.append(Failing(name="", kind="loud", got=record["message"], want="an answer"))
    return Question(
        cell=cell, record=record, expects="numbers", tensors=spec.tensors, outputs=tuple(outputs), failing=tuple(failing), gradient=False
    )


def of_example(cell: Cell, record: Record, check: Mapping[str, Any], example: Example, *, simple: bool = True) -> Question:
    """The question of one example of a sweep. ``simple``: without a backward where only the value fails.

    Raises:
        BadInput: what fails cannot be shown by one example alone.
    """
    op, kind = cell.spec.op, check["check"]
    assert op
    if kind in NOT_ALONE:
        raise BadInput(f"{kind}: it shows only after other examples", "a failure of one call", "python -m harness show")
    what = check["note"].partition(";")[0].partition(" at ")[0]
    place = PLACE.search(check["note"].partition(";")[0])
    backward = op.gradient and not example.invalid
    gradient = backward and not (simple and kind not in ("loud", "crash", "hang") and not what.startswith("d"))
    at = place[1] if place else ""
    if at == SUM:
        what, at = f"{TOTAL}{what}", ""
    failing = Failing(name=what, kind=kind, got=number(check["got"]), want=number(check["want"]), place=at)
    made = [] if example.invalid else _outputs(op, example, kind, what, gradient=gradient)
    outputs = tuple(readable(o, failing if o.name == what else None) for o in made)
    return Question(
        cell=cell,
        record=record,
        expects="refusal" if example.invalid else "numbers",
        tensors={name: example.buffer(name) for name in example.asked.tensors},
        outputs=outputs,
        failing=(failing,),
        example=example,
        gradient=gradient,
    )


def example_of(op: Op, trigger: str) -> Example:
    """The example that a record's trigger writes down."""
    read = json.loads(trigger)
    tensors = {}
    for name, t in read["tensors"].items():
        tensors[name] = np.full(t["shape"], t["all"], dtype=t["dtype"]) if "all" in t else np.array(t["values"], dtype=t["dtype"])
        tensors[name] = tensors[name].reshape(t["shape"])
    asked = Asked(tensors=tensors, attributes=read["attributes"])
    return Example(
        asked=asked,
        dtype=read["dtype"],
        layouts=read["layouts"],
        use=read["use"],
        upstream=np.asarray(read["upstream"], dtype=np.float64),
        invalid=op.invalid(asked),
    )


def _outputs(op: Op, example: Example, kind: str, what: str, *, gradient: bool) -> list[Output]:
    with np.errstate(all="ignore"):
        reference = explore.wanted(op, example)
        made = [_output(op, example, reference, "y", reference.output)]
        top = TOP.get(example.dtype, np.inf) / 2
        overflows = np.any(np.abs(reference.output.low[np.isfinite(reference.output.low)]) > top)
        if gradient and not overflows:  # a gradient is made from the output, which is past the type's end
            made += [_output(op, example, reference, f"d{name}", _of_buffer(example, name, w)) for name, w in reference.gradients.items()]
        if what.startswith(TOTAL):
            made.append(_total(op, example, reference, what.removeprefix(TOTAL)))
    if kind == "mutates":
        made.append(Output(name=f"{what} afterwards", want=np.asarray(example.buffer(what), dtype=np.float64), rtol=0.0, atol=0.0))
    return [o for o in made if o.name == what or o.known is None or o.known.any()]


def _output(op: Op, example: Example, reference: Reference, name: str, wanted: Wanted) -> Output:
    """The judge's interval as its middle and the allowed distance from it."""
    allowed = reference.allowed(wanted, op, example.asked, example.dtype) + (op.slack(example.asked) if name == "y" else 0.0)
    finite = np.isfinite(wanted.low)
    middle = np.where(finite, (wanted.low + wanted.high) / 2, wanted.low)
    atol = np.where(finite, allowed + (wanted.high - wanted.low) / 2, 0.0)
    top = TOP.get(example.dtype, np.inf) / 2
    largest = np.maximum(np.abs(wanted.low), np.abs(wanted.high)) + allowed
    known = wanted.known & ((largest < top) | ~finite)
    return Output(name=name, want=middle, rtol=0.0, atol=atol, known=known)


def _of_buffer(example: Example, name: str, wanted: Wanted) -> Wanted:
    """The gradient of the buffer, from that of the view; in a chain the buffer holds half, twice."""
    layout, times = example.layouts.get(name, "contiguous"), 2.0 if example.use == "chain" else 1.0
    low, high, change = (times * carried(of, layout) for of in (wanted.low, wanted.high, wanted.change))
    cancelled = times * carried(np.broadcast_to(np.asarray(wanted.cancelled), wanted.low.shape) * 1.0, layout)
    known = np.asarray(carried(wanted.known * 1.0, layout) == carried(np.ones(wanted.known.shape), layout))
    total = None if wanted.total is None else times * wanted.total
    return Wanted(low=low, high=high, change=change, cancelled=cancelled, known=known, total=total, total_error=times * wanted.total_error)


def _total(op: Op, example: Example, reference: Reference, what: str) -> Output:
    """The sum of an output's numbers, as the judge allows it."""
    wanted = reference.output if what == "y" else _of_buffer(example, what[1:], reference.gradients[what[1:]])
    allowed = reference.allowed(wanted, op, example.asked, example.dtype) + (op.slack(example.asked) if what == "y" else 0.0)
    return Output(
        name=f"{TOTAL}{what}", want=np.asarray(wanted.total, dtype=np.float64), rtol=0.0, atol=float(np.sum(allowed)) + wanted.total_error
    )


def readable(output: Output, failing: Failing | None) -> Output:
    """One allowed error for all numbers, unless the defect would hide in the largest; and no digit of ``want`` that is far below it."""
    known = output.known if output.known is not None else np.ones(output.want.shape, dtype=bool)
    asked = np.asarray(output.atol)[known] if isinstance(output.atol, np.ndarray) else np.array([output.atol])
    most = rounded_up(float(asked.max(initial=0.0)))
    numbers = failing and isinstance(failing.got, float) and isinstance(failing.want, float) and np.isfinite(failing.got + failing.want)
    if numbers and abs(failing.got - failing.want) < NARROWLY * most:  # type: ignore[operator, union-attr]
        return output
    plain = not numbers or abs(failing.got - failing.want) > HIDES * most  # type: ignore[operator, union-attr]
    atol: Array | float = most if plain else np.vectorize(rounded_up, otypes=[np.float64])(output.atol)
    finest = float(asked[asked > 0].min(initial=np.inf)) if not plain else most
    if 0 < finest < np.inf:
        digits = max(0, 3 - int(np.floor(np.log10(finest))))
        return dataclasses.replace(
            output, want=np.where(np.isfinite(output.want), np.round(output.want, digits) + 0.0, output.want), atol=atol
        )
    return dataclasses.replace(output, atol=atol)
