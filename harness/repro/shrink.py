"""Smaller inputs that fail alike, where a file could not hold the recorded ones; careful that every cut is asked of the framework itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from gradarbiter.core import Array
from harness.ask import Asker
from harness.cell import Cell
from harness.project import Project
from harness.record import Record
from harness.sweep import explore
from harness.sweep.ask import _Asking, _finding
from harness.sweep.explore import Explored, Found
from harness.sweep.op import Example

ENOUGH = 1000  # numbers in all, that need not be fewer
ASKED = 30  # times, at most


def numbers(tensors: Mapping[str, Array]) -> int:
    return sum(value.size for value in tensors.values())


def shorter(tensors: Mapping[str, Array]) -> Iterator[dict[str, Array]]:
    """Fewer numbers: each axis of one size, in all tensors at once, cut to a half of it or three quarters; the longest first."""
    for size in sorted({n for value in tensors.values() for n in value.shape if n > 1}, reverse=True):
        for kept in (size // 2, 3 * size // 4):
            yield {name: _cut(value, size, kept) for name, value in tensors.items()}


def _cut(value: Array, size: int, kept: int) -> Array:
    made = value[tuple(slice(kept) if n == size else slice(None) for n in value.shape)]
    if value.dtype.kind in "iu" and value.size and kept <= value.max() < size:
        made = made % kept  # ids of the axis that is cut
    return made


def least(start: Mapping[str, Array], fails: Callable[[Mapping[str, Array]], bool], enough: int = ENOUGH) -> None:
    """Cut as long as it fails and something is to be gained."""
    tensors, left, going = dict(start), ASKED, True
    while going and numbers(tensors) > enough:
        going = False
        for made in shorter(tensors):
            if left and numbers(made) < numbers(tensors):
                left -= 1
                if fails(made):
                    tensors, going = made, True
                    break


def of_case(project: Project, cell: Cell, r: Record) -> tuple[Cell, Record]:
    """The cell with fewer numbers, and what the framework answers to these."""
    best, want = (cell, r), _failing(r)
    with Asker(project, run="repro") as asker:

        def fails(made: Mapping[str, Array]) -> bool:
            nonlocal best
            smaller = dataclasses.replace(cell, spec=dataclasses.replace(cell.spec, inputs=lambda _: made))
            try:
                smaller.spec.want  # noqa: B018  a reference of its own may refuse the shape
            except Exception:  # noqa: BLE001  a case may raise anything
                return False
            for old in asker.folder.glob("*.inputs.safetensors"):
                old.unlink()  # named by the case: those of the size before
            answer = asker.ask(smaller)
            if _failing(answer) != want:
                return False
            best = smaller, {**r, "checks": answer["checks"], "message": answer["message"]}
            return True

        least(cell.spec.tensors, fails)
    return best


def _failing(r: Record) -> set[str]:
    return {c["check"] for c in r["checks"] if not c["holds"]}


@np.errstate(all="ignore")
def of_example(project: Project, cell: Cell, check: Mapping[str, Any], example: Example) -> tuple[Mapping[str, Any], Example]:
    """The example with fewer numbers, and the check as it fails on these."""
    op, best = cell.spec.op, (check, example)
    assert op
    what = check["note"].partition(";")[0].partition(" at ")[0]
    with Asker(project, run="repro") as asker:
        asking = _Asking(asker, cell, asker.environment(cell))

        def fails(made: Mapping[str, Array]) -> bool:
            nonlocal best
            asked = dataclasses.replace(best[1].asked, tensors=made)
            try:
                shape = np.shape(op.forward(**made, **asked.attributes))
            except Exception:  # noqa: BLE001  a definition refuses what does not fit, in any way
                return False
            upstream = best[1].upstream[tuple(map(slice, shape))] if len(shape) == best[1].upstream.ndim else best[1].upstream
            if upstream.shape != shape:
                return False
            smaller = dataclasses.replace(best[1], asked=asked, upstream=upstream)
            (reply,) = asking([smaller])
            for fault in explore.faults(op, smaller, reply, cell.column.framework):
                if fault.what == what and (fault.kind == check["check"] or "saturates" in (fault.kind, check["check"])):
                    explored = Explored(asked=1, answered=1, found=())
                    found = _finding(Found(fault=fault, example=smaller, of=1), explored)
                    best = {**dataclasses.asdict(found), "check": check["check"]}, smaller
                    return True
            return False

        least(example.asked.tensors, fails)
    return best
