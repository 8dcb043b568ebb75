"""The ledger of a sweep: what is wrong with each operation of each framework, once, over its versions; careful that what nobody looked up is said."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.case import SWEPT, Spec
from harness.pins import release_key
from harness.project import replace
from harness.record import command, row_of
from harness.report.table import Record
from harness.verdict import BAD, EXECUTED

ONCE = re.compile(r"in one process; not in two\)$")  # what harness/sweep/ask.py says of a process whose two halves held


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One operation of one framework. ``kinds``: version -> what is wrong there, worst first, nothing where all held; oldest version first."""

    item: str
    framework: str
    kinds: Mapping[str, tuple[str, ...]]
    first_bad: str
    last_good: str  # the newest good version before the first bad one; "" where none was asked
    fixed: str  # the first good version after the last bad one; "" where it is still bad
    repeats: bool  # what is wrong there was wrong in a second process; else the next version may hold by luck
    compiled: bool  # wrong in compiled mode only
    column: str  # the newest bad one, whose example follows
    kind: str
    got: float | str
    want: float | str
    example: str
    trigger: str
    tracker: str
    command: str

    @property
    def square(self) -> str:
        return f"{self.item}/{self.column}"


def findings(records: Iterable[Record], specs: Sequence[Spec]) -> list[Finding]:
    """Of every operation that is wrong in a version of a framework; those of the newest versions first."""
    known = {spec.row: spec for spec in specs}
    rows: dict[tuple[str, str], dict[str, list[Record]]] = {}
    for record in records:
        if record["dtype"] == SWEPT and record["status"] in EXECUTED:
            rows.setdefault((row_of(record), str(record["framework"])), {}).setdefault(str(record["column"]), []).append(record)
    made = [_finding(item, framework, columns, known.get(item)) for (item, framework), columns in rows.items()]
    return sorted((f for f in made if f), key=lambda f: (bool(f.fixed), f.framework, f.item))


def _finding(item: str, framework: str, columns: Mapping[str, list[Record]], spec: Spec | None) -> Finding | None:
    ordered = sorted(columns.values(), key=lambda of: release_key(str(of[0]["version"])))
    bad = [of for of in ordered if any(r["status"] in BAD for r in of)]
    if not bad:
        return None
    versions = [str(of[0]["version"]) for of in ordered]
    first, last = ordered.index(bad[0]), ordered.index(bad[-1])
    newest = min((r for r in bad[-1] if r["status"] in BAD), key=_compiled)  # an eager one, where there is one
    worst = next(
        (c for c in newest["checks"] if not c["holds"]), {"check": newest["status"], "got": "", "want": "", "note": newest["message"]}
    )
    return Finding(
        item=item,
        framework=framework,
        kinds={str(of[0]["version"]): _kinds(of) for of in ordered},
        first_bad=versions[first],
        last_good=versions[first - 1] if first else "",
        fixed=versions[last + 1] if last + 1 < len(versions) else "",
        repeats=_repeats(bad[-1]),
        compiled=_compiled(newest),
        column=str(newest["column"]),
        kind=str(worst["check"]),
        got=worst["got"],
        want=worst["want"],
        example=str(worst["note"]),
        trigger=str(worst.get("trigger", "")),
        tracker=(spec.tracker(framework) if spec else "") or "not looked up",
        command=command(newest),
    )


def _kinds(records: Iterable[Record]) -> tuple[str, ...]:
    """What is wrong in one version."""
    return tuple(dict.fromkeys(str(c["check"]) for c in _wrong(records)))


def _repeats(records: Iterable[Record]) -> bool:
    """Whether anything that is wrong in one version was wrong in a second process too."""
    wrong = _wrong(records)
    return not wrong or any(not ONCE.search(str(c["got"])) for c in wrong)


def _wrong(records: Iterable[Record]) -> list[Mapping[str, Any]]:
    """The checks of one version that do not hold, a refusal left out."""
    bad = sorted((r for r in records if r["status"] in BAD), key=_compiled)
    return [c for r in bad for c in r["checks"] if not c["holds"] and c["check"] != "loud"]


def _compiled(record: Record) -> bool:
    return str(record["mode"]) == "compiled"


def write(path: Path, found: Iterable[Finding]) -> None:
    """One JSON line a finding."""
    replace(path, "".join(json.dumps(_plain(finding)) + "\n" for finding in found))


def _plain(finding: Finding) -> dict[str, Any]:
    trigger = json.loads(finding.trigger) if finding.trigger else None
    return {**finding.__dict__, "kinds": {v: list(k) for v, k in finding.kinds.items()}, "trigger": trigger}
