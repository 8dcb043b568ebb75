"""What the page says first: whom it is for, what turned, and why not to believe it; careful that a doubt is said before anything else is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.record import row_of
from harness.report import table
from harness.report.evidence import CaseView, Square, foremost
from harness.report.table import ColumnHead, Record
from harness.verdict import BAD, EXECUTED, STATUSES

CONTROL = "numpy"  # the references re-ordered: a column that must never be accused
OURS = "trainer"  # the reference trainer of this repository: asked like any framework, and none to choose


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One framework's newest version, for somebody who chooses."""

    column: ColumnHead
    asked: int
    silent: tuple[Square, ...]
    other: tuple[tuple[str, int], ...]  # further bad statuses
    not_asked: tuple[tuple[str, int], ...]


@dataclass(frozen=True, kw_only=True)
class Changed:
    """The cells of one square that changed in the same way."""

    change: str
    square: Square
    status: str
    cells: tuple[Record, ...]

    @property
    def names(self) -> str:
        return ", ".join(name(r) for r in self.cells)


@dataclass(frozen=True, kw_only=True)
class Tally:
    """What a folded group says of one column: the worst status, how many of its rows have it, and how many have each."""

    status: str
    rows: int
    of: int
    counts: tuple[tuple[str, int], ...]  # worst first
    change: str


def name(record: Record) -> str:
    """What tells a cell from the others of its square."""
    return " · ".join([str(record["variant"] or "default"), str(record["dtype"]), *(["compiled"] if record["mode"] == "compiled" else [])])


def choices(heads: Sequence[ColumnHead], cases: Sequence[CaseView]) -> list[Choice]:
    found = []
    for head in (h for h in heads if h.newest and h.framework not in (CONTROL, OURS)):
        squares = [row.squares[head.id] for case in cases for row in case.rows if head.id in row.squares]
        counts = Counter(s.status for s in squares)
        found.append(
            Choice(
                column=head,
                asked=sum(counts[s] for s in EXECUTED),
                silent=tuple(s for s in squares if s.status == "silent"),
                other=tuple((s, counts[s]) for s in BAD if s != "silent" and counts[s]),
                not_asked=tuple((s, counts[s]) for s in STATUSES if s not in EXECUTED and counts[s]),
            )
        )
    return found


def changed(square: Square) -> list[Changed]:
    found = []
    for change in ("new", "fixed", "changed"):
        cells = tuple(r for r, c in zip(square.records, square.changes, strict=True) if c == change)
        if cells:
            found.append(Changed(change=change, square=square, status=table.worst(r["status"] for r in cells), cells=cells))
    return found


def tallies(case: CaseView, heads: Sequence[ColumnHead]) -> dict[str, Tally]:
    found = {}
    for head in heads:
        squares = [row.squares[head.id] for row in case.rows if head.id in row.squares]
        if squares:
            counts = Counter(s.status for s in squares)
            listed = tuple((s, counts[s]) for s in STATUSES if counts[s])
            change = foremost(s.change for s in squares)
            found[head.id] = Tally(status=listed[0][0], rows=listed[0][1], of=len(squares), counts=listed, change=change)
    return found


def problems(facts: Mapping[str, Any], records: Sequence[Record]) -> list[str]:
    """Why the page should not be believed as it stands."""
    found = []
    accused = sorted({f"{row_of(r)} ({r['status']})" for r in records if r["framework"] == CONTROL and r["status"] in (*BAD, "loud")})
    if accused:
        found.append(
            f"The control column is accused: {', '.join(accused[:5])}. A check, a reference or a tolerance of those rows is wrong."
        )
    if facts.get("twins_accused"):
        found.append(f"{facts['twins_accused']} healthy twins were accused: some checks object to right answers.")
    mutants = facts.get("mutants") or {}
    survivors = int(mutants.get("total", 0)) - int(mutants.get("killed", 0)) - int(mutants.get("explained", 0))
    if survivors > 0:
        found.append(f"{survivors} planted errors of {mutants['total']} went unnoticed and unexplained: some checks cannot fail.")
    ours = int(facts.get("harness_errors") or 0) or sum(r["cause"] == "harness" for r in records)
    if ours:
        found.append(f"{ours} cells could not be asked through a fault of the harness itself.")
    return found
