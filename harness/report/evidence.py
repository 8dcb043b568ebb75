"""What stands behind each square: its cells, the failed checks and what they allow; careful to tell a thing once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.case import FAILURES, Absent, Documented, Spec, Tol
from harness.report import text
from harness.report.ran import EnvironmentView, FileView, Ran
from harness.report.table import ColumnHead, Record, fold, key, number, row_of, worst
from harness.verdict import BAD

LOG_SHOWN = 2_000  # characters of a log's end on the page; the record keeps what there is
QUIET = ("ok", "absent", "untested")  # their logs and messages stand in the record, or in the one line of their square


@dataclass(frozen=True, kw_only=True)
class Failed:
    check: str
    got: str
    want: str
    times: str
    note: str


@dataclass(frozen=True, kw_only=True)
class CellView:
    name: str  # what tells it from the other cells of its square
    variant: str
    dtype: str
    mode: str
    status: str
    cause: str
    change: str
    message: str
    checks: int
    closest: str  # the worst ratio of its checks: how near a passing cell is to failing
    failed: tuple[Failed, ...]
    tolerance: Tol | None
    run_s: str
    cpu_s: str
    peak: str
    load: str
    at: str
    run: str
    log: str
    log_cut: int


@dataclass(frozen=True, kw_only=True)
class Square:
    id: str
    row: str
    column: ColumnHead
    status: str
    fold: tuple[str, ...]
    change: str
    message: str
    cells: tuple[CellView, ...]
    files: tuple[FileView, ...]
    environments: tuple[EnvironmentView, ...]
    tracker: str
    documented: Documented | None
    absent: Absent | None

    @property
    def found(self) -> bool:
        return self.status in BAD

    @property
    def blocks(self) -> list[tuple[list[str], CellView]]:
        """The cells that need more than a line; those that went alike, down to the numbers, are told once."""
        alike: dict[object, list[CellView]] = {}
        for c in self.cells:
            if c.status not in QUIET:
                alike.setdefault((c.status, c.cause, c.change, c.message, c.failed, c.log, c.tolerance), []).append(c)
        return [([c.name for c in cells], cells[0]) for cells in alike.values()]


@dataclass(frozen=True, kw_only=True)
class Row:
    id: str
    item: str
    claim: str
    tolerances: tuple[tuple[str, str, Tol], ...]  # what it is for, dtype, allowed
    explained: tuple[tuple[str, str], ...]
    squares: Mapping[str, Square]  # by column; a column without one was not in this run
    swept: bool  # an operation of a sweep: where nobody wrote a run file there is no cell that says so


@dataclass(frozen=True, kw_only=True)
class CaseView:
    id: str
    failure: str
    claim: str
    guards: str
    source: str
    rows: tuple[Row, ...]
    files: tuple[FileView, ...]

    @property
    def grouped(self) -> bool:
        return any(r.item for r in self.rows)


@dataclass
class Evidence:
    """Makes the views of cases, rows, squares and cells."""

    specs: Mapping[str, Spec]
    change: Callable[[Record], str]
    columns: Mapping[str, ColumnHead]
    ran: Ran

    def cases(self, records: Sequence[Record]) -> list[CaseView]:
        """Failure classes in their listed order, then cases and items in the order of the specs; records that no spec knows come last."""
        groups: dict[tuple[str, str], dict[str, dict[str, list[Record]]]] = {}
        for record in records:
            rows = groups.setdefault((self._failure(record), str(record["case"])), {})
            rows.setdefault(row_of(record), {}).setdefault(str(record["column"]), []).append(record)
        classes, order = list(FAILURES), list(self.specs)
        place = {row: i for i, row in enumerate(order)}

        def first(group: tuple[str, str]) -> tuple[int, int, str]:
            failure, case = group
            return (
                classes.index(failure) if failure in classes else len(classes),
                min(place.get(r, len(order)) for r in groups[group]),
                case,
            )

        views = []
        for failure, case in sorted(groups, key=first):
            rows = groups[failure, case]
            names = sorted(rows, key=lambda r: (place.get(r, len(order)), r))
            views.append(self._case(failure, case, [self._row(name, rows[name]) for name in names]))
        return views

    def _failure(self, record: Record) -> str:
        spec = self.specs.get(row_of(record))
        return spec.case.failure if spec else ""

    def _case(self, failure: str, case: str, rows: list[Row]) -> CaseView:
        spec = next((s for s in self.specs.values() if s.id == case), None)
        files = {f.id: f for row in rows for square in row.squares.values() for f in square.files}
        return CaseView(
            id=case,
            failure=failure,
            claim=spec.case.claim if spec else "no case of this name any more: its records stand, its question does not",
            guards=spec.case.guards if spec else "",
            source=f"cases/{case}/case.py" if spec else "",
            rows=tuple(rows),
            files=tuple(sorted(files.values(), key=lambda f: f.path)),
        )

    def _row(self, name: str, by_column: Mapping[str, list[Record]]) -> Row:
        spec = self.specs.get(name)
        tolerances: list[tuple[str, str, Tol]] = []
        if spec:
            own = [(c.output, d, t) for c in spec.checks if c.tol for d, t in c.tol.items()]
            tolerances = [("every other output" if own else "every output", d, t) for d, t in spec.tol.items()] + own
        return Row(
            id=name,
            item=spec.item if spec else name.partition(":")[2],
            claim=spec.claim if spec else "",
            tolerances=tuple(tolerances),
            explained=tuple(spec.explained.items()) if spec else (),
            swept=spec is not None and spec.op is not None,
            squares={c: self._square(name, head, by_column[c], spec) for c, head in self.columns.items() if c in by_column},
        )

    def _square(self, row: str, column: ColumnHead, records: list[Record], spec: Spec | None) -> Square:
        records = sorted(records, key=lambda r: (r["variant"] or "", r["mode"] != "eager"))  # stable: dtypes stay in their order
        cells = [self._cell(r, spec) for r in records]
        status = worst(c.status for c in cells)
        changes = {c.change for c in cells}
        files = [f for f in (self.ran.file(r) for r in records) if f]
        environments = [self.ran.environment(r) for r in records if r["environment"]]
        statuses = {c.status for c in cells}
        return Square(
            id=f"{row}/{column.id}",
            row=row,
            column=column,
            status=status,
            fold=tuple(fold(records)),
            change=next((c for c in ("new", "changed", "fixed") if c in changes), ""),
            message=next(c.message for c in cells if c.status == status),
            cells=tuple(cells),
            files=tuple({f.id: f for f in files}.values()),
            environments=tuple({e.id: e for e in environments}.values()),
            tracker=spec.case.tracker.get(column.framework, "") if spec else "",
            documented=spec.documented.get(column.framework) if spec and "differs" in statuses else None,
            absent=spec.absent.get(column.framework) if spec and "absent" in statuses else None,
        )

    def _cell(self, record: Record, spec: Spec | None) -> CellView:
        status, log = str(record["status"]), str(record["log"] or "")
        failed = [c for c in record["checks"] if not c["holds"]]
        names = [str(record["variant"] or "default"), str(record["dtype"]), *(["compiled"] if record["mode"] == "compiled" else [])]
        shown = "" if status in QUIET else log[-LOG_SHOWN:]
        return CellView(
            name=" · ".join(names),
            variant=str(record["variant"] or ""),
            dtype=str(record["dtype"]),
            mode=str(record["mode"]),
            status=status,
            cause=str(record["cause"] or ""),
            change=self.change(record),
            message=str(record["message"] or ""),
            checks=len(record["checks"]),
            closest=text.times(max((number(c["ratio"]) for c in record["checks"]), default=float("nan"))),
            failed=tuple(_failed(c) for c in failed),
            tolerance=_tolerance(spec, str(record["dtype"]), failed),
            run_s=text.seconds(record["run_s"] or None),
            cpu_s=text.seconds(record["cpu_s"] or None),
            peak=text.size(record["peak_bytes"] or None),
            load=text.ratio(record["load"]),
            at=str(record["at"]),
            run=str(record["run"]),
            log=shown,
            log_cut=len(log) - len(shown) if shown else 0,
        )


def _failed(check: Mapping[str, Any]) -> Failed:
    return Failed(
        check=str(check["check"]),
        got=text.value(check["got"]),
        want=text.value(check["want"]),
        times=text.times(number(check["ratio"])),
        note=str(check["note"] or ""),
    )


def _tolerance(spec: Spec | None, dtype: str, failed: Iterable[Mapping[str, Any]]) -> Tol | None:
    """What the first failed comparison allowed; a missing output or a broken limit has no tolerance."""
    outputs = [str(c["check"]).removesuffix(" close") for c in failed if str(c["check"]).endswith(" close")]
    if not spec or not outputs:
        return None
    own = next((c.tol for c in spec.checks if c.output == outputs[0] and c.tol), None) or {}
    return own.get(dtype) or spec.tol.get(dtype)


def baseline_of(baseline: Iterable[Record], change: Callable[[Any, Any], str]) -> Callable[[Record], str]:
    """A record's change since the baseline; no marks at all where there is no baseline to compare with."""
    before = {key(r): r for r in sorted(baseline, key=lambda r: str(r.get("at", "")))}
    if not before:
        return lambda _: ""
    return lambda record: change(record, before.get(key(record)))
