"""Finds the facts of one failing cell: its record, its rows of the matrix, its repro; careful that only a current record counts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from harness import pins, record, verdict
from harness.bisect import answer as answers
from harness.bisect.answer import Answer
from harness.bisect.question import Question
from harness.bisect.question import read as read_question
from harness.bundle.facts import Facts, Line, Repro
from harness.cell import Cell
from harness.errors import BadInput
from harness.pins import Column, release_key
from harness.project import Project
from harness.record import Record
from harness.report.text import URL, value

MOST_NUMBERS = 64  # of a reference that is printed whole


def gather(project: Project, address: str, column: str, repro: Path | None = None) -> Facts:
    """The facts of one cell on one pinned column.

    Raises:
        BadInput: no such cell, no current record of it, one that does not fail, or no repro.
    """
    (one,) = only(pins.select(pins.read(project.pins), [column]), column)
    asked = read_question(project, address)
    records = record.newest(project.baseline, project.latest, project.swept)
    cell, worst = _worst(asked, asked.cells(project, one), records, f"{address} {column}")
    return of(project, cell, worst, records, _repro(project, worst, repro))


def of(project: Project, cell: Cell, worst: Record, records: Sequence[Record], repro: Repro) -> Facts:
    """The facts of a cell whose record and repro are known; ``records`` are the newest of every cell."""
    one = cell.column
    same = [r for r in records if _same(r, cell)]
    backends = {c.id: c.backend for c in pins.read(project.pins)}
    mine = [r for r in same if r["framework"] == one.framework and backends.get(r["column"], "") == one.backend]
    note = cell.spec.tracker(one.framework)
    return Facts(
        project=project,
        cell=cell,
        record=worst,
        repro=repro,
        lines=tuple(_lines(cell, worst)),
        references=_references(cell, worst),
        versions=tuple(sorted((r for r in mine if r["variant"] == cell.variant), key=lambda r: release_key(r["version"]))),
        others=tuple(_newest(r for r in same if r["framework"] not in (one.framework, "numpy", "trainer") and not r["variant"])),
        variants=tuple(r for r in mine if r["column"] == one.id and r["variant"] != cell.variant),
        bisect=_bisect(project, cell),
        tracker=note,
        links=tuple(dict.fromkeys(URL.findall(note))),
    )


def only(columns: Sequence[Column], named: str) -> Sequence[Column]:
    if len(columns) != 1:
        raise BadInput(f"{named!r} names {len(columns)} columns", "one", "name one column, such as candle-0.11.1")
    return columns


def _worst(asked: Question, cells: list[Cell], records: list[Record], named: str) -> tuple[Cell, Record]:
    by_key = {record.key(r): r for r in records}
    current = [(c, by_key[c.key]) for c in cells if c.key in by_key and by_key[c.key]["asked"] == c.asked]
    if not current:
        raise BadInput(f"no current record of {named}", "a cell that was asked since its question last changed", f"ask it: -k {asked.row}")
    order = list(verdict.STATUSES)
    cell, worst = min(current, key=lambda pair: order.index(pair[1]["status"]))
    if worst["status"] not in (*verdict.BAD, "loud", "differs"):
        raise BadInput(f"{named} is {worst['status']}", "a cell that fails", "python -m harness show")
    return cell, worst


def _same(r: Record, cell: Cell) -> bool:
    return (r["case"], r["item"], r["dtype"], r["mode"]) == (cell.spec.id, cell.spec.item, cell.dtype, cell.mode)


def _newest(records: Iterable[Record]) -> list[Record]:
    newest: dict[str, Record] = {}
    for r in sorted(records, key=lambda r: release_key(r["version"])):
        newest[r["framework"]] = r
    return [newest[name] for name in sorted(newest)]


def _lines(cell: Cell, r: Record) -> list[Line]:
    made = []
    for c in sorted(r["checks"], key=lambda c: c["holds"]):
        if cell.spec.op and c["holds"]:
            continue  # a sweep counts its examples there
        allowed, why = _allowed(cell, c["check"])
        times = c["ratio"] if isinstance(c["ratio"], str) else f"{c['ratio']:.3g}"
        made.append(
            Line(
                check=c["check"],
                holds=c["holds"],
                got=value(c["got"]),
                want=value(c["want"]),
                times=times,
                allowed=allowed,
                why=why,
                note=c["note"],
            )
        )
    return made


def _allowed(cell: Cell, check: str) -> tuple[str, str]:
    if cell.spec.op:
        own = cell.spec.tol[cell.dtype]
        return "the bound of the example", own.why
    found = next((c for c in cell.spec.check_list() if check.startswith(c.output)), None)
    own = cell.spec.tolerance(found, cell.dtype) if found else cell.spec.tol[cell.dtype]
    return f"{own.atol:.3g} + {own.rtol:.3g} abs(want)", own.why


def _references(cell: Cell, r: Record) -> dict[str, str]:
    if cell.spec.op:
        return {}
    failed = {c["check"].partition(" ")[0] for c in r["checks"] if not c["holds"]}
    return {
        name: np.array2string(array, precision=9, separator=", ", threshold=MOST_NUMBERS)
        for name, array in cell.spec.want.items()
        if name in failed and array.size <= MOST_NUMBERS
    }


def _bisect(project: Project, cell: Cell) -> Answer | None:
    """The answer of a search for this very cell, or for all dtypes of it."""
    for address in (cell.address, cell.address.partition("@")[0]):
        found = answers.read(answers.path(project, address, cell.column.framework, cell.column.backend))
        if found and found["complete"]:
            return found
    return None


def main_of(folder: Path) -> Path | None:
    """The file of a repro that a person reads."""
    return next((p for p in (folder / "repro.py", folder / "src" / "main.rs") if p.is_file()), None)


def _repro(project: Project, r: Record, given: Path | None) -> Repro:
    """The repro of the cell: given, or the one that `repro` left among the latest results."""
    folders = [given] if given else sorted(p.parent for p in (project.latest / "repros").glob("*/repro.json"))
    address = record.address(r).rpartition(" ")[0]
    for folder in folders:
        try:
            said = json.loads((folder / "repro.json").read_text())
        except (OSError, ValueError):
            continue
        mine = given or (said.get("cell"), said.get("column")) == (address, r["column"])
        if mine and (main := main_of(folder)):
            return Repro(folder=folder, said=said, main=main)
    where = given or "results/latest/repros"
    raise BadInput(
        f"no repro of {record.address(r)} in {where}",
        "repro.json beside repro.py or src/main.rs",
        "python -m harness repro, or --repro DIR",
    )
