"""What is exported: the records of a run that answer today's questions, and how each stands to its baseline; careful to tell what was left out."""

from __future__ import annotations

import fnmatch
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from harness import pins, record, summary, verdict
from harness.case import Spec
from harness.errors import BadInput
from harness.keyword import matcher
from harness.matrix import all_cells
from harness.project import Project
from harness.record import Key, Record, row_of
from harness.report import table, throughput
from harness.report.evidence import baseline_of
from harness.report.evidence import rate as counted_of
from harness.report.table import ColumnHead

RUN = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{4}")
FINDING = (*verdict.BAD, "loud")  # what a list of findings shows: what is wrong, and what was refused


@dataclass(frozen=True)
class Selection:
    """The chosen records in the order of cases and columns, and what is known beside them."""

    records: Sequence[Record]
    everything: Sequence[Record]  # unfiltered: a ratio to the reference framework needs its record too
    before: Mapping[Key, Record]  # the baseline; empty where there is none to compare with
    specs: Mapping[str, Spec]  # by row
    columns: Mapping[str, ColumnHead]
    root: Path
    stale: int  # records of questions that have changed since
    broken: Sequence[record.BadLine]
    chosen: Callable[[Record], bool]
    what: str  # what was asked for, in words

    @cached_property
    def change(self) -> Callable[[Record], str]:
        """new, fixed, changed or same; nothing where there is no baseline. The page's own code."""
        return baseline_of(self.before.values(), verdict.change)

    def is_new(self, found: Record) -> bool:
        """Whether a finding is one that nobody was told of: every one, where there is no baseline."""
        return self.change(found) in ("new", "")

    def failure(self, found: Record) -> str:
        """Its class of the closed list; `unknown` for a record that no case knows any more."""
        spec = self.specs.get(row_of(found))
        return spec.case.failure if spec else "unknown"

    def claim(self, found: Record) -> str:
        spec = self.specs.get(row_of(found))
        return spec.claim if spec else ""

    def tracker(self, found: Record) -> str:
        """The upstream link and note of its framework; nothing where none is known."""
        spec = self.specs.get(row_of(found))
        return spec.tracker(str(found["framework"])) if spec else ""

    @cached_property
    def gone(self) -> list[Record]:
        """Findings of the baseline whose cell, asked again, has none."""
        now = {record.key(r): r for r in self.everything}
        mine = [b for k, b in self.before.items() if k in now and b["status"] in FINDING and now[k]["status"] not in FINDING]
        return [b for b in mine if self.chosen(b)]

    @cached_property
    def squares(self) -> list[tuple[str, list[Record]]]:
        """Worst status -> the records of one question and column, which the page draws as one square."""
        groups: dict[tuple[str, str], list[Record]] = {}
        for found in self.records:
            groups.setdefault((row_of(found), str(found["column"])), []).append(found)
        return [(table.worst(str(r["status"]) for r in of), of) for of in groups.values()]

    @cached_property
    def counts(self) -> dict[str, int]:
        statuses = Counter(str(r["status"]) for r in self.records)
        return {s: statuses[s] for s in verdict.STATUSES}

    @cached_property
    def speeds(self) -> dict[tuple[str, ...], throughput.Line]:
        """(row, column, variant, dtype, mode, run) -> what the page's table of speeds says of it."""
        made = throughput.blocks(self.everything, self.columns)
        return {(b.row, x.column.id, x.variant, b.dtype, b.mode, b.run): x for b in made for x in b.lines}

    def speed(self, found: Record) -> throughput.Line | None:
        return self.speeds.get((row_of(found), *(str(found[k] or "") for k in ("column", "variant", "dtype", "mode", "run"))))


def rate(found: Record) -> float | None:
    """How often a cell fails when it is asked; None where it was not asked or refused. Only an `unstable` cell lies between 0 and 1."""
    status = found["status"]
    if status == "unstable":
        counted = counted_of(found)
        return counted[0] / counted[1] if counted else None
    if status not in verdict.EXECUTED or status == "loud":
        return None
    return float(status in verdict.BAD)


def select(project: Project, *, columns: Sequence[str] = (), keyword: str = "", since: str = "", committed: bool = False) -> Selection:
    """The latest run's current records, or with ``committed`` the baseline's, filtered.

    ``since``: `baseline` for cells that are not as it says, or a run's id for what was measured by later runs.

    Raises:
        BadInput: there are no records, none is chosen, or an option cannot be read.
    """
    found, broken, baseline = _read(project, committed=committed)
    cells = all_cells(project, pins.read(project.pins))
    specs = {c.spec.row: c.spec for c in cells}
    current = [*summary.current(cells, found), *(r for r in found if r["environment"]["local"])]
    if not current:
        raise BadInput(f"{len(found)} records, all of questions that have changed since", "a run of today's cases", "python3 noxfile.py")
    heads = {h.id: h for h in table.columns(table.frame(current), list(dict.fromkeys(c.column.framework for c in cells)))}
    chosen = _filter(project, [str(r["column"]) for r in current], columns, keyword)
    rows, order = {row: i for i, row in enumerate(specs)}, {h: i for i, h in enumerate(heads)}
    current.sort(key=lambda r: (rows.get(row_of(r), len(rows)), order[r["column"]]))  # stable: dtypes and variants stay in their order
    before = {record.key(r): r for r in baseline}
    picked = [r for r in current if chosen(r)]
    everything = Selection(
        picked, current, before, specs, heads, project.root, len(found) - len(current), broken, chosen, _words(columns, keyword, since)
    )
    kept = list(filter(_since(everything, since, {str(r["run"]) for r in found}), picked)) if since else picked
    if not kept:
        raise BadInput(f"no record of {everything.what}", "at least one", "python -m harness list says what there is")
    return replace(everything, records=kept)


def _read(project: Project, *, committed: bool) -> tuple[list[Record], list[record.BadLine], list[Record]]:
    """Records, lines that are none, and the baseline they are held against."""
    if committed:
        found, broken = record.read_folder(project.baseline)
        if not found:
            raise BadInput(f"no records in {project.baseline}", "a committed baseline", "python -m harness report --publish")
        return found, broken, []
    found, broken = record.read_folder(project.latest)
    swept, more = record.read_folder(project.swept)
    if not [*found, *swept]:
        raise BadInput(
            f"no records in {project.latest}",
            "a run, or the committed records",
            "python3 noxfile.py, or add --baseline for the committed ones",
        )
    return [*found, *swept], [*broken, *more], record.read_folder(project.baseline)[0]


def _filter(project: Project, known: Sequence[str], columns: Sequence[str], keyword: str) -> Callable[[Record], bool]:
    ids: set[str] = set()
    for pattern in columns:
        tagged = {c.id for c in pins.read(project.pins) if pattern in c.tags}
        hits = {c for c in known if fnmatch.fnmatchcase(c, pattern) or c in tagged}
        if not hits:
            raise BadInput(f"no records of column {pattern!r}", f"one of: {', '.join(sorted(set(known)))}", "name one of these")
        ids |= hits
    fits = matcher(keyword)

    def chosen(found: Record) -> bool:
        return (not ids or found["column"] in ids) and fits(record.address(found))

    return chosen


def _since(selection: Selection, since: str, runs: set[str]) -> Callable[[Record], bool]:
    if since == "baseline":
        if not selection.before:
            raise BadInput("--since baseline, and no baseline to compare with", "results/baseline/", "leave --since out")
        return lambda found: selection.change(found) != "same"
    if not RUN.fullmatch(since):
        newest = max(runs)
        raise BadInput(
            f"--since {since}", "baseline, or a run's id", f"for example: --since {newest}; `python -m harness show` prints them"
        )
    return lambda found: str(found["run"]) > since  # an id begins with its UTC time


def _words(columns: Sequence[str], keyword: str, since: str) -> str:
    said = [", ".join(columns) or "all columns", *([f"-k {keyword!r}"] if keyword else []), *([f"since {since}"] if since else [])]
    return ", ".join(said)
