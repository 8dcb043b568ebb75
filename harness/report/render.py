"""The page: one HTML file that reads without JavaScript; careful that what a framework printed is escaped and that nothing is fetched."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from harness import pins
from harness.case import FAILURES, Spec
from harness.errors import BadInput
from harness.report import blindspot, history, ledger, table, text, throughput
from harness.report.evidence import CaseView, CellView, Evidence, Square, baseline_of
from harness.report.ran import Ran
from harness.report.table import ColumnHead, Record
from harness.verdict import BAD, EXECUTED, STATUSES

TEMPLATES = Path(__file__).parent / "templates"
CONTROL = "numpy"  # the references re-ordered: a column that must never be accused
OURS = "trainer"  # the reference trainer of this repository: asked like any framework, and none to choose
OPEN_ITEMS = 20  # a sweep with more rows starts folded; print and browsers without :has() show it open


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
    cells: tuple[CellView, ...]


@dataclass(frozen=True, kw_only=True)
class Tally:
    """What a sweep's summary row says of one column: the worst status, and how many of its rows have it."""

    status: str
    rows: int
    of: int


def render(
    records: Sequence[Record],
    baseline: Sequence[Record],
    specs: Sequence[Spec],
    *,
    root: Path,
    title_facts: Mapping[str, Any],
    change: Callable[[Any, Any], str] | None = None,
) -> str:
    """The page of a run.

    ``title_facts``: run, started, ended, platform, cpu, load, mutants {killed, total, explained}, twins_accused, harness_errors,
    broken_lines, overhead and command; one that is missing reads "not measured". ``change`` tells a record's change since its
    baseline record (harness.verdict's where none is given).

    Raises:
        BadInput: there is no record, or one that this version cannot read.
    """
    if not records:
        raise BadInput("no records", "at least one cell that was asked", "run: python3 noxfile.py")
    if change is None:
        from harness import verdict

        change = verdict.change
    cells = table.latest(table.frame(records))
    kept = [records[i] for i in cells.index]
    heads = table.columns(cells, _frameworks(root))
    by_id = {h.id: h for h in heads}
    ran = Ran(root=root)
    evidence = Evidence(specs={s.row: s for s in specs}, change=baseline_of(baseline, change), columns=by_id, ran=ran)
    cases = evidence.cases(kept)
    found = [s for c in cases for r in c.rows for s in r.squares.values()]
    changes = [c for s in found for c in _changes(s)]
    asked_keys = {table.key(r) for r in kept}
    counts = table.summary(cells)
    script = (TEMPLATES / "script.js.j2").read_text()
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            facts=_Facts(title_facts),
            problems=_problems(title_facts, kept),
            statuses=STATUSES,
            squares=table.summary(table.squares(cells)),
            cells=counts,
            asked=table.executed(counts),
            causes=_causes(cells),
            columns=heads,
            frameworks=_spans(heads),
            failures=FAILURES,
            cases=cases,
            tallies={c.id: _tallies(c, heads) for c in cases if c.grouped},
            open_items=OPEN_ITEMS,
            choices=_choices(heads, cases),
            has_baseline=bool(baseline),
            changes=changes,
            change_counts=Counter(cell.change for c in changes for cell in c.cells),
            vanished=len({table.key(r) for r in baseline} - asked_keys),
            unseen=sorted({s.row for s in specs} - {r.id for c in cases for r in c.rows}),
            blocks=throughput.blocks(kept, by_id),
            blind=blindspot.view(root),
            ledger=ledger.findings(kept, specs),
            strips=history.strips,
            environments=list(ran.environments.values()),
            control=CONTROL,
            ours=OURS,
            script=script,
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        )
    )


class _Facts(dict[str, Any]):
    """A template asks for a fact by name; one that nobody measured is None."""

    def __missing__(self, name: str) -> None:
        return None


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        name: getattr(text, name)
        for name in ("value", "seconds", "size", "rate", "ratio", "share", "fact", "links", "breakable", "overhead")
    }
    environment.filters["count_"] = text.count
    environment.filters["anchor"] = anchor
    return environment


def anchor(name: str) -> str:
    """An element id from a row, a column or a path: readable, and without the white space that an id cannot hold."""
    return "_".join(name.split())


def _frameworks(root: Path) -> list[str]:
    """The order of the pins file is the order of the page."""
    try:
        return list(dict.fromkeys(c.framework for c in pins.read(root / "harness" / "pins.toml")))
    except BadInput:
        return []  # another project's records, without its pins


def _spans(heads: Sequence[ColumnHead]) -> list[tuple[str, int]]:
    return list(Counter(h.framework for h in heads).items())


def _causes(cells: pd.DataFrame) -> dict[str, int]:
    return {str(k): int(v) for k, v in cells[cells["status"] == "error"]["cause"].fillna("unknown").value_counts().items()}


def _tallies(case: CaseView, heads: Sequence[ColumnHead]) -> dict[str, Tally]:
    tallies = {}
    for head in heads:
        statuses = [row.squares[head.id].status for row in case.rows if head.id in row.squares]
        if statuses:
            status = table.worst(statuses)
            tallies[head.id] = Tally(status=status, rows=statuses.count(status), of=len(statuses))
    return tallies


def _changes(square: Square) -> list[Changed]:
    changes = []
    for change in ("new", "fixed", "changed"):
        cells = tuple(c for c in square.cells if c.change == change)
        if cells:
            changes.append(Changed(change=change, square=square, status=table.worst(c.status for c in cells), cells=cells))
    return changes


def _choices(heads: Sequence[ColumnHead], cases: Sequence[CaseView]) -> list[Choice]:
    choices = []
    for head in (h for h in heads if h.newest and h.framework not in (CONTROL, OURS)):
        squares = [row.squares[head.id] for case in cases for row in case.rows if head.id in row.squares]
        counts = Counter(s.status for s in squares)
        choices.append(
            Choice(
                column=head,
                asked=sum(counts[s] for s in EXECUTED),
                silent=tuple(s for s in squares if s.status == "silent"),
                other=tuple((s, counts[s]) for s in BAD if s != "silent" and counts[s]),
                not_asked=tuple((s, counts[s]) for s in STATUSES if s not in EXECUTED and counts[s]),
            )
        )
    return choices


def _problems(facts: Mapping[str, Any], records: Sequence[Record]) -> list[str]:
    """Why the page should not be believed as it stands, found before anything else is read."""
    problems = []
    accused = sorted({f"{table.row_of(r)} ({r['status']})" for r in records if r["framework"] == CONTROL and r["status"] in (*BAD, "loud")})
    if accused:
        problems.append(
            f"The control column is accused: {', '.join(accused[:5])}. A check, a reference or a tolerance of those rows is wrong."
        )
    if facts.get("twins_accused"):
        problems.append(f"{facts['twins_accused']} healthy twins were accused: some checks object to right answers.")
    mutants = facts.get("mutants") or {}
    survivors = int(mutants.get("total", 0)) - int(mutants.get("killed", 0)) - int(mutants.get("explained", 0))
    if survivors > 0:
        problems.append(f"{survivors} planted errors of {mutants['total']} went unnoticed and unexplained: some checks cannot fail.")
    ours = int(facts.get("harness_errors") or 0) or sum(r["cause"] == "harness" for r in records)
    if ours:
        problems.append(f"{ours} cells could not be asked through a fault of the harness itself.")
    return problems
