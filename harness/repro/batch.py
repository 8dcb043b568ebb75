"""The repros of every silent cell of the newest versions, one after another; careful that a stopped run goes on, and that what failed is listed too."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from harness import pins, record
from harness.cell import Cell
from harness.keyword import matcher
from harness.matrix import all_cells
from harness.project import Project, replace
from harness.record import Record
from harness.repro import one, stamp

LISTED = ("cell", "column", "asked", "status", "check", "lines", "seconds", "executed", "valid", "warm", "reason", "slug")
Line = dict[str, Any]


def chosen(project: Project, columns: list[str], keyword: str) -> list[tuple[Cell, Record]]:
    """Of each silent pair (case or item, column) the record that a repro is made of.

    Raises:
        BadInput: no such column, or a keyword that cannot be read.
    """
    wanted = pins.select(pins.read(project.pins), columns)
    cells = {c.key: c for c in all_cells(project, wanted)}
    silent = [r for r in one.records(project) if r["status"] == "silent" and record.key(r) in cells]
    fits = matcher(keyword)
    pairs = [(cells[record.key(r)], r) for r in one.worst(silent) if fits(record.address(r))]
    return sorted(pairs, key=lambda pair: (pair[0].column.id, pair[0].address))


def run(project: Project, *, columns: list[str], keyword: str, warm: bool, cold_sample: int = 0, fresh: bool = False) -> list[Line]:
    """Make what is not there already; of a run with ``warm``, ``cold_sample`` in an environment of their own all the same.

    Raises:
        BadInput: no such column.
    """
    pairs = chosen(project, columns, keyword)
    cold = {c.id for c, _ in Random(0).sample(pairs, min(cold_sample, len(pairs)))} if warm else set()  # noqa: S311  the same in every run
    kept = {line["slug"]: line for line in listed(project)}
    lines: list[Line] = []
    bars = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*bars) as progress:
        task = progress.add_task("repros", total=len(pairs))
        for cell, r in pairs:
            before = None if fresh else done(project, cell, r, cold=cell.id in cold)
            if before is None:
                progress.update(task, description=f"{cell.column.id} {cell.spec.row}"[:60])
                made = one.make(project, cell, r, warm=warm and cell.id not in cold)
                before = line(made)
                if not made.valid:
                    progress.console.print(f"{made.cell} {made.column}: {made.status}: {made.reason[:200]}", markup=False, highlight=False)
            lines.append(before)
            kept[before["slug"]] = before
            write(project, kept.values())
            progress.advance(task)
    return lines


def done(project: Project, cell: Cell, r: Record, *, cold: bool) -> Line | None:
    """What an earlier run made of the same answer; what could not be run is tried again."""
    try:
        made = one.Outcome(**json.loads((one.home(project) / stamp.slug_of(cell) / "repro.json").read_text()))
    except (OSError, ValueError, TypeError):
        return None
    if made.asked != r["asked"] or made.status == "cannot" or (cold and made.warm):
        return None
    return line(made)


def line(made: one.Outcome) -> Line:
    return {name: getattr(made, name) for name in LISTED}


def file(project: Project) -> Path:
    return project.results / "repros.jsonl"


def listed(project: Project) -> list[Line]:
    """What was made so far; a line that is none is left out."""
    found: list[Line] = []
    try:
        text = file(project).read_text(errors="replace")
    except OSError:
        return found
    for each in text.splitlines():
        try:
            read = json.loads(each)
        except ValueError:
            continue
        if isinstance(read, dict) and set(LISTED) <= read.keys():
            found.append(read)
    return found


def write(project: Project, lines: Iterable[Line]) -> None:
    """All of them, at once: a run that is stopped loses none."""
    path = file(project)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace(path, "".join(json.dumps(each) + "\n" for each in sorted(lines, key=lambda each: (each["column"], each["cell"]))))


def counted(project: Project, records: list[Record]) -> dict[str, int]:
    """Of ``records``: how many (case or item, column) of the newest versions are silent, and how many of these have a repro of the same answer."""
    newest = {c.id for c in pins.select(pins.read(project.pins), ["newest"])}
    silent = {(r["case"], r["item"], r["column"]): r for r in records if r["status"] == "silent" and r["column"] in newest}
    asked = {(r["column"], r["asked"]) for r in records if r["status"] == "silent"}
    mine = [each for each in listed(project) if (each["column"], each["asked"]) in asked and each["column"] in newest]
    return {"silent_newest": len(silent), "executed": sum(m["executed"] for m in mine), "valid": sum(m["valid"] for m in mine)}
