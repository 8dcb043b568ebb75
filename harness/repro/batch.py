"""The repros of every silent cell of the newest versions, one after another; careful that a stopped run goes on, and that what failed is listed too."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from harness import pins, record
from harness.bundle import check, gather
from harness.bundle import write as write_bundle
from harness.bundle.facts import Repro
from harness.cell import Cell
from harness.keyword import matcher
from harness.matrix import all_cells
from harness.project import Project, objects, replace
from harness.record import Record
from harness.repro import one, stamp

LISTED = ("cell", "column", "asked", "status", "check", "lines", "seconds", "executed", "valid", "warm", "reason", "slug")
FITS, WAITS = "fits", "fits, and waits for a person's words"  # what the check of a bundle said; else its first objection
Line = dict[str, Any]


def chosen(project: Project, columns: list[str], keyword: str, known: list[Record]) -> list[tuple[Cell, Record]]:
    """Of each silent pair (case or item, column) the record that a repro is made of; ``known`` are the newest of every cell.

    Raises:
        BadInput: no such column, or a keyword that cannot be read.
    """
    wanted = pins.select(pins.read(project.pins), columns)
    cells = {c.key: c for c in all_cells(project, wanted)}
    silent = [r for r in known if r["status"] == "silent" and record.key(r) in cells and cells[record.key(r)].asked == r["asked"]]
    fits = matcher(keyword)
    pairs = [(cells[record.key(r)], r) for r in one.worst(silent) if fits(record.address(r))]
    return sorted(pairs, key=lambda pair: (pair[0].column.id, pair[0].address))


def run(project: Project, *, columns: list[str], keyword: str, warm: bool, cold_sample: int = 0, fresh: bool = False) -> list[Line]:
    """Make what is not there yet, and a bundle of each that reproduces; of a run with ``warm``, ``cold_sample`` of each column in an environment of their own.

    Raises:
        BadInput: no such column.
    """
    known = one.records(project)
    pairs = chosen(project, columns, keyword, known)
    cold = _sample(pairs, cold_sample) if warm else set()
    mine = {c.id for c in pins.select(pins.read(project.pins), columns)}
    slugs = {stamp.slug_of(cell) for cell, _ in pairs}
    # A line of a cell that is silent no more goes, where all of its column were chosen.
    kept = {line["slug"]: line for line in listed(project) if keyword or line["column"] not in mine or line["slug"] in slugs}
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
            before["bundle"] = bundled(project, cell, r, known) if before["valid"] else ""
            before["valid"] = before["bundle"] in (FITS, WAITS)
            if before["bundle"] and not before["valid"]:
                progress.console.print(f"{before['cell']} {before['column']}: {before['bundle'][:200]}", markup=False, highlight=False)
            lines.append(before)
            kept[before["slug"]] = before
            write(project, kept.values())
            progress.advance(task)
    return lines


def _sample(pairs: list[tuple[Cell, Record]], count: int) -> set[str]:
    """Of each column ``count`` cells, the same in every run."""
    of: dict[str, list[str]] = {}
    for cell, _ in pairs:
        of.setdefault(cell.column.id, []).append(cell.id)
    return {one for column, ids in of.items() for one in Random(column).sample(ids, min(count, len(ids)))}  # noqa: S311  no secret


def done(project: Project, cell: Cell, r: Record, *, cold: bool) -> Line | None:
    """What an earlier run made of the same answer; what could not be run is tried again."""
    try:
        made = one.Outcome(**json.loads((one.home(project) / stamp.slug_of(cell) / "repro.json").read_text()))
    except (OSError, ValueError, TypeError):
        return None
    if made.asked != r["asked"] or made.status == "cannot" or (cold and made.warm):
        return None
    return line(made)


def bundled(project: Project, cell: Cell, r: Record, known: list[Record]) -> str:
    """Make the bundle of a repro, and hold it against its form."""
    folder = one.home(project) / stamp.slug_of(cell)
    main = gather.main_of(folder)
    assert main
    repro = Repro(folder=folder, said=json.loads((folder / "repro.json").read_text()), main=main)
    facts = gather.of(project, cell, r, known, repro)
    out = write_bundle.default_folder(facts)
    made = write_bundle.write(facts, out)
    if wrong := check.problems(out, unwritten=False):
        return wrong[0]
    return WAITS if made["human"]["missing"] else FITS


def line(made: one.Outcome) -> Line:
    return {name: getattr(made, name) for name in LISTED}


def file(project: Project) -> Path:
    return project.results / "repros.jsonl"


def listed(project: Project) -> list[Line]:
    """What was made so far; a line that is none is left out."""
    return [line for line in objects(file(project)) if set(LISTED) <= line.keys()]


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
