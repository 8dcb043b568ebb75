"""A row's outputs do not depend on the other rows of its batch, in evaluation; careful that a row is compared in its own place, where its noise is the same.

The rows between the first and the last are replaced by copies of the first; those two stay. Statistics over the batch would show in both, an order of rows
(a reshape that mixes them up) in one of them. A BatchNorm that trains in evaluation is the usual finding.
"""

from __future__ import annotations

from gradarbiter import probe
from gradarbiter.result import Finding, NotAsked
from gradarbiter.subject import Expect, Subject


def batch_independence(subject: Subject, expect: Expect) -> list[Finding]:
    if expect.batch_mixing:
        raise NotAsked("declared that rows of a batch may influence each other")
    probe.wake(subject)
    base = subject.outputs()
    rows = len(base) if base.ndim else 1
    if rows < 2:
        raise NotAsked("a batch of one row: give at least two")
    limit, findings, replaced = probe.rounding(subject, base), [], False
    for kept in ((0, rows - 1),) if rows > 2 else ((0,), (1,)):
        index = [row if row in kept else kept[0] for row in range(rows)]
        got = subject.outputs(subject.with_rows(index))
        if got.shape != base.shape:
            raise NotAsked(f"outputs of shape {base.shape}, and {got.shape} of as many rows: rows are not the first axis: give predict=")
        moved = probe.change(got, base).reshape(rows, -1).max(axis=1)
        replaced |= any(moved[row] > limit for row in range(rows) if row not in kept)
        findings += [_finding(row, float(moved[row]), limit) for row in kept if moved[row] > 0]
    if not replaced:
        raise NotAsked("replacing rows by others changes no output: give a batch whose rows differ")
    return findings


def _finding(row: int, moved: float, limit: float) -> Finding:
    text = f"the outputs of row {row} change by {moved:.1e} of the largest output when other rows of the batch are replaced"
    numbers = {"change": moved, "rounding": limit}
    if moved > limit:
        return Finding(kind="mixing", parameter=f"row {row}", text=f"{text}: rows mix in evaluation", numbers=numbers)
    return Finding(kind="rounding", parameter=f"row {row}", text=f"{text}: rounding ({limit:.1e}) could", numbers=numbers, accuses=False)
