"""How many of the defects of operations that were known beforehand the sweep found: `python -m tests.recall`. The sweep itself never reads the list.

tests/known_defects.toml has one table a defect: ``id``, ``item`` (a row of the sweep), ``columns`` (in which it was seen by running), ``kinds`` (any one
of them is the defect; none: any), and, where the sweep cannot find it, ``missed``: why.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import record
from harness.project import Project
from harness.record import row_of
from harness.verdict import BAD, EXECUTED

LIST = Path(__file__).with_name("known_defects.toml")


@dataclass(frozen=True, kw_only=True)
class Known:
    """A known defect in one column, and what the sweep says there."""

    id: str
    item: str
    column: str
    found: bool
    said: str
    missed: str


def recalled(records: list[record.Record], known: Path = LIST) -> Iterator[Known]:
    """Each known defect in each of its columns. One whose operation was not asked there counts as missed."""
    rows: dict[tuple[str, str], list[record.Record]] = {}
    for answer in records:
        if answer["status"] in EXECUTED:
            rows.setdefault((row_of(answer), answer["column"]), []).append(answer)
    for defect in tomllib.loads(known.read_text())["defect"]:
        for column in defect["columns"]:
            yield _known(defect, column, rows.get((defect["item"], column), []))


def _known(defect: dict[str, Any], column: str, answers: list[record.Record]) -> Known:
    kinds = {c["check"] for answer in answers if answer["status"] in BAD for c in answer["checks"] if not c["holds"]}
    wanted = set(defect.get("kinds", ()))
    return Known(
        id=defect["id"],
        item=defect["item"],
        column=column,
        found=bool(kinds & wanted if wanted else kinds),
        said=", ".join(sorted(kinds)) or (answers[0]["status"] if answers else "not asked"),
        missed=defect.get("missed", ""),
    )


def main() -> int:
    project = Project()
    folder = project.swept if "--latest" in sys.argv else project.baseline
    known = list(recalled(record.read_folder(folder)[0]))
    found = sum(k.found for k in known)
    for k in known:
        if not k.found:
            print(f"missed  {k.id} in {k.column} ({k.item}): the sweep says: {k.said}. {k.missed or 'NOT EXPLAINED'}")
    print(
        json.dumps(
            {"defects": len({k.id for k in known}), "pairs": len(known), "found": found, "recall": round(found / max(len(known), 1), 4)}
        )
    )
    return 0 if all(k.found or k.missed for k in known) else 1


if __name__ == "__main__":
    sys.exit(main())
