"""What the matrix already knows of a version; careful that only an answer to this very question counts, and that two that disagree are shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from harness import record, verify
from harness.bisect.column import lock_digest
from harness.cell import Cell
from harness.project import Project
from harness.record import Record


@dataclass(kw_only=True)
class Known:
    """The records of one version's cells, and where they disagree among themselves."""

    records: dict[str, Record] = field(default_factory=dict)  # cell id -> the latest
    disagreements: list[str] = field(default_factory=list)


def of(project: Project, cells: list[Cell]) -> Known:
    """Records of the committed baseline, the latest run and the latest sweep that answer these cells as they are today, in the environment of today's lock."""
    known = Known()
    for one in cells:
        lock = lock_digest(project, one.column)
        for folder in (project.baseline, project.latest, project.swept):
            for r in _column(folder / f"{one.column.id}.jsonl"):
                if record.key(r) != one.key or r["asked"] != one.asked or not answers(r) or (lock and r["environment"]["lock"] != lock):
                    continue
                if (before := known.records.get(one.id)) is not None:
                    known.disagreements += disagreement(before, r)
                known.records[one.id] = r
    return known


def answers(r: Record) -> bool:
    """Whether a record says something of the framework; a build that failed is worth keeping too."""
    return not r["environment"]["local"] and (r["status"] not in ("error", "untested") or r["cause"] == "build")


def disagreement(old: Record, new: Record) -> list[str]:
    """Where two answers to one question differ, a line each; failed builds say nothing."""
    if "error" in (old["status"], new["status"]):
        return []
    return [f"{d.cell}: {d.what}: {d.committed}; and {d.now} ({old['at']}, {new['at']})" for d in verify.compare(old, new)]


@cache
def _column(file: Path) -> tuple[Record, ...]:
    return tuple(record.read(file)[0])
