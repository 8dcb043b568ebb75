"""`summary --json`: the numbers of the project, counted from committed records whose version is current; nothing is taken from memory."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from harness import mutants, pins, record, verdict
from harness.case import SWEPT, Spec
from harness.cell import Cell
from harness.matrix import all_cells
from harness.project import Project
from harness.record import Record
from harness.report import blindspot, ledger, table
from harness.repro import batch


def current(cells: list[Cell], records: list[Record]) -> list[Record]:
    """The records that still answer a cell of today: same question, same version of it."""
    asked = {c.key: c.asked for c in cells}
    return [r for r in records if asked.get(record.key(r)) == r["asked"]]


def oracles(specs: list[Spec]) -> tuple[list[mutants.Outcome], list[str]]:
    """Every mutant of every row judged, and the healthy twins that were accused."""
    return [o for s in specs for o in mutants.kill_all(s)], [a for s in specs for a in mutants.accused(s)]


def summary(project: Project, *, folder: Path | None = None) -> dict[str, Any]:
    columns = pins.read(project.pins)
    cells = all_cells(project, columns)
    records, broken = record.read_folder(folder or project.baseline)
    valid = current(cells, records)
    statuses = Counter(r["status"] for r in valid)
    specs = list({c.spec.row: c.spec for c in cells}.values())
    outcomes, accused = oracles(specs)
    return {
        "cases": len({s.id for s in specs}),
        "items": len(specs),
        "columns": len({r["column"] for r in valid}),
        "frameworks": len({r["framework"] for r in valid}),
        "cells": len(cells),
        "current": len(valid),
        "stale": len(records) - len(valid),
        "broken_lines": len(broken),
        "executed": sum(statuses[s] for s in verdict.EXECUTED),
        "by_status": {s: statuses[s] for s in verdict.STATUSES},
        "squares_by_status": _squares(valid),
        "harness_errors": sum(1 for r in valid if r["cause"] == "harness"),
        "mutants": {
            "killed": sum(o.killed for o in outcomes),
            "total": len(outcomes),
            "explained": sum(bool(o.explained) for o in outcomes),
        },
        "twins_accused": len(accused),
        "overhead": _overhead(project),
        "blindspot": blindspot.totals(project.root),
        "sweep": _swept(valid, specs),
        "repros": batch.counted(project, valid),
    }


def _squares(records: list[Record]) -> dict[str, int]:
    """What the page counts: each question of a column once, its worst status of all dtypes, modes and variants."""
    folded: dict[tuple[str, str, str], list[str]] = {}
    for r in records:
        folded.setdefault((r["case"], r["item"], r["column"]), []).append(r["status"])
    counted = Counter(table.worst(statuses) for statuses in folded.values())
    return {s: counted[s] for s in verdict.STATUSES}


def _swept(records: list[Record], specs: list[Spec]) -> dict[str, int]:
    """An operation counts once a column, whatever its types, layouts and modes."""
    pairs = {(r["case"], r["item"], r["column"]) for r in records if r["dtype"] == SWEPT and r["status"] in verdict.EXECUTED}
    found = ledger.findings(records, specs)
    standing = sum(not finding.fixed for finding in found)
    return {"operations": sum(s.op is not None for s in specs), "pairs": len(pairs), "findings": len(found), "standing": standing}


def _overhead(project: Project) -> dict[str, float] | None:
    for file in (project.baseline / "overhead.json", project.latest / "overhead.json"):
        if file.exists():
            read: dict[str, float] = json.loads(file.read_text())
            return read
    return None
