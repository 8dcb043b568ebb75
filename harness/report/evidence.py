"""Records as cases, rows and squares; careful that the worst status wins, and that a row nobody knows any more is kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.case import FAILURES, SWEPT, Spec
from harness.record import row_of
from harness.report.table import ColumnHead, Record, fold, key, worst
from harness.verdict import BAD

DRAWN_ROWS = 24  # a group with more rows is drawn by the script, when it is unfolded
RUNS = re.compile(r"fails (\d+) of (\d+)")  # what an unstable cell's message says (harness/ask.py)
EXAMPLES = re.compile(r"; (\d+) of (\d+) examples$")  # what a sweep's failed check says (harness/sweep/judge.py)


@dataclass(frozen=True, kw_only=True)
class Square:
    """One row in one column. ``fold``: how its parts fared where its word does not say it; ``rate``: failed of asked, runs or examples."""

    row: str
    column: ColumnHead
    status: str
    fold: tuple[str, ...]
    change: str
    rate: tuple[int, int] | None
    records: tuple[Record, ...]
    changes: tuple[str, ...]  # of each record

    @property
    def id(self) -> str:
        return f"/c/{self.row}/{self.column.id}"

    @property
    def found(self) -> bool:
        return self.status in BAD

    @property
    def message(self) -> str:
        return str(next(r["message"] for r in self.records if r["status"] == self.status) or "")


@dataclass(frozen=True, kw_only=True)
class Row:
    id: str
    item: str
    claim: str
    spec: Spec | None
    squares: Mapping[str, Square]  # by column, oldest version first; a column without one was not in this run
    swept: bool  # an operation of a sweep: where nobody wrote a run file there is no cell that says so


@dataclass(frozen=True, kw_only=True)
class CaseView:
    id: str
    failure: str
    claim: str
    guards: str
    source: str
    rows: tuple[Row, ...]

    @property
    def grouped(self) -> bool:
        return any(r.item for r in self.rows)

    @property
    def drawn(self) -> bool:
        """Whether its rows are in the table from the start. Those of a long group, or of a family of operations, the script draws from the index when it is
        unfolded; without a script their findings stand in words.
        """
        return not self.grouped or (len(self.rows) <= DRAWN_ROWS and not any(r.swept for r in self.rows))


@dataclass
class Evidence:
    """Makes the views of cases, rows and squares."""

    specs: Mapping[str, Spec]
    change: Callable[[Record], str]
    columns: Mapping[str, ColumnHead]

    def cases(self, records: Sequence[Record]) -> list[CaseView]:
        """Failure classes in their listed order, in each the cases that somebody wrote before the sweeps, in the order of the specs; records that no
        spec knows come last.
        """
        groups: dict[tuple[str, str], dict[str, dict[str, list[Record]]]] = {}
        for record in records:
            rows = groups.setdefault((self._failure(record), str(record["case"])), {})
            rows.setdefault(row_of(record), {}).setdefault(str(record["column"]), []).append(record)
        classes = {name: place for place, name in enumerate(FAILURES)}
        place = {row: i for i, row in enumerate(self.specs)}

        def first(group: tuple[str, str]) -> tuple[int, bool, int, str]:
            failure, case = group
            swept = all(self._swept(row) for row in groups[group])
            return classes.get(failure, len(classes)), swept, min(place.get(r, len(place)) for r in groups[group]), case

        views = []
        for failure, case in sorted(groups, key=first):
            rows = groups[failure, case]
            names = sorted(rows, key=lambda r: (place.get(r, len(place)), r))
            views.append(self._case(failure, case, [self._row(name, rows[name]) for name in names]))
        return views

    def _failure(self, record: Record) -> str:
        spec = self.specs.get(row_of(record))
        return spec.case.failure if spec else ""

    def _swept(self, row: str) -> bool:
        spec = self.specs.get(row)
        return spec is not None and spec.op is not None

    def _case(self, failure: str, case: str, rows: list[Row]) -> CaseView:
        spec = next((row.spec for row in rows if row.spec), None)
        return CaseView(
            id=case,
            failure=failure,
            claim=spec.case.claim if spec else "no case of this name any more: its records stand, its question does not",
            guards=spec.case.guards if spec else "",
            source=f"cases/{case}/case.py" if spec else "",
            rows=tuple(rows),
        )

    def _row(self, name: str, by_column: Mapping[str, list[Record]]) -> Row:
        spec = self.specs.get(name)
        return Row(
            id=name,
            item=spec.item if spec else name.partition(":")[2],
            claim=spec.claim if spec else "",
            spec=spec,
            swept=self._swept(name),
            squares={c: self._square(name, head, by_column[c]) for c, head in self.columns.items() if c in by_column},
        )

    def _square(self, row: str, column: ColumnHead, records: list[Record]) -> Square:
        records = sorted(records, key=lambda r: (r["variant"] or "", r["mode"] != "eager"))  # stable: dtypes stay in their order
        status = worst(r["status"] for r in records)
        changes = tuple(self.change(r) for r in records)
        return Square(
            row=row,
            column=column,
            status=status,
            fold=tuple(fold(records)),
            change=foremost(changes),
            rate=rate(next(r for r in records if r["status"] == status)),
            records=tuple(records),
            changes=changes,
        )


def foremost(changes: Iterable[str]) -> str:
    """Of the changes of several cells the one that a reader wants to know first."""
    seen = set(changes)
    return next((c for c in ("new", "changed", "fixed") if c in seen), "")


def rate(record: Record) -> tuple[int, int] | None:
    """How many of its runs, or of a sweep's examples, failed; None where that is none, all, or was not counted."""
    if record["status"] == "unstable":
        said = RUNS.search(str(record["message"]))
    elif record["dtype"] == SWEPT and record["status"] in BAD:
        said = next((m for c in record["checks"] if not c["holds"] and (m := EXAMPLES.search(str(c["note"])))), None)
    else:
        return None
    failed, asked = (int(said[1]), int(said[2])) if said else (0, 0)
    return (failed, asked) if 0 < failed < asked else None


def baseline_of(baseline: Iterable[Record], change: Callable[[Any, Any], str]) -> Callable[[Record], str]:
    """A record's change since the baseline; no marks at all where there is no baseline to compare with."""
    before = {key(r): r for r in sorted(baseline, key=lambda r: str(r.get("at", "")))}
    if not before:
        return lambda _: ""
    return lambda record: change(record, before.get(key(record)))
