"""One repro, from a cell's name to a folder that was run; careful that what did not fail as its record says is said to be so, and not kept as a repro."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harness import machine, pins, record
from harness.cell import Cell
from harness.errors import BadInput, CannotBuild
from harness.matrix import all_cells
from harness.project import Project
from harness.record import Record
from harness.repro import accept, execute, literals, question, shrink, stamp
from harness.repro.question import Question

SHOWN = ("silent", "unstable", "loud")  # what a bundle can show so far


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of one cell's repro: repro.json, and a line of results/repros.jsonl."""

    slug: str
    cell: str
    column: str
    asked: str
    check: str
    status: str  # reproduced, not-reproduced or cannot
    code: int | None
    seconds: float
    lines: int
    warm: bool
    reason: str
    output: str

    @property
    def executed(self) -> bool:
        return self.code is not None

    @property
    def valid(self) -> bool:
        return self.status == "reproduced"


def home(project: Project) -> Path:
    return project.latest / "repros"


def find(project: Project, address: str, column: str) -> tuple[Cell, Record]:
    """The bad cell of that address; of several (dtypes, modes, variants) the worst, in the order of the records.

    Raises:
        BadInput: no such column, no record, or one that is not bad.
    """
    columns = pins.select(pins.read(project.pins), [column])
    cells = {c.key: c for c in all_cells(project, columns)}
    mine = [r for r in records(project) if r["column"] in {c.id for c in columns}]
    named = [r for r in mine if _matches(address, r)]
    if not named:
        raise BadInput(f"no record of {address} {column}", "a cell that was asked: CASE[:ITEM][/VARIANT][@DTYPE]", "python -m harness show")
    bad = [r for r in named if r["status"] in SHOWN]
    if not bad:
        statuses = ", ".join(sorted({r["status"] for r in named}))
        raise BadInput(f"{address} {column} is {statuses}", f"one of {', '.join(SHOWN)}", "name a cell that fails: python -m harness show")
    known = [r for r in bad if record.key(r) in cells]
    if not known:
        raise BadInput(f"{address} {column} is no cell of today", "a record of a cell that is still asked", "python -m harness list")
    worst = min(known, key=lambda r: SHOWN.index(r["status"]))
    return cells[record.key(worst)], worst


def _matches(address: str, r: Record) -> bool:
    whole = record.address(r).rpartition(" ")[0]
    short = whole.partition("@")[0]
    return address in (whole, short, short.partition("/")[0], r["case"] if not r["item"] else "")


def records(project: Project) -> list[Record]:
    """The latest of every cell: committed, then those of later runs."""
    return record.newest(project.baseline, project.latest, project.swept)


def make(project: Project, cell: Cell, r: Record, *, out: Path | None = None, warm: bool = False) -> Outcome:
    """Stamp the repro of a cell, run it, and say what came of it; the folder has repro.json in any case."""
    reasons: list[str] = []
    last: Outcome | None = None
    try:
        for asked in _questions(project, cell, r):
            last = _tried(project, asked, out=out, warm=warm)
            if last.valid:
                break
            reasons.append(last.reason)
    except (BadInput, CannotBuild) as cannot:
        reasons.append(f"{cannot.found}; wanted: {cannot.wanted}")
    if last is None:
        last = _outcome(cell, r, "", reason=reasons[-1])
    folder = out or home(project) / last.slug
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "repro.json").write_text(json.dumps(asdict(last), indent=1) + "\n")
    return last


def _questions(project: Project, cell: Cell, r: Record) -> Iterator[Question]:
    """From the simplest to the one that is asked just as the sweep asked it."""
    if not cell.spec.op:
        if max(map(shrink.numbers, (cell.spec.tensors, cell.spec.want))) > shrink.ENOUGH:
            cell, r = shrink.of_case(project, cell, r)
        yield question.of_case(cell, r)
        return
    failed = [c for c in r["checks"] if not c["holds"]]
    if not failed:
        raise BadInput("the record names no failed check", "a check that fails", "ask it again: python -m harness sweep")
    check = failed[0]
    example = _example(project, cell, check)
    if shrink.numbers({name: example.buffer(name) for name in example.asked.tensors}) > shrink.ENOUGH:
        check, example = shrink.of_example(project, cell, check, example)
    asked = question.of_example(cell, r, check, example)
    yield asked
    if cell.column.framework == "candle" and not asked.gradient:
        yield dataclasses.replace(asked, watched=True)
    if not asked.gradient and cell.spec.op.gradient and not example.invalid:
        asked = question.of_example(cell, r, check, example, simple=False)
        yield asked
    if cell.column.language == "python":
        yield dataclasses.replace(asked, one_thread=True)


def _example(project: Project, cell: Cell, check: Mapping[str, Any]) -> Any:
    from harness.repro import drawn

    assert cell.spec.op
    if check.get("trigger"):
        return question.example_of(cell.spec.op, check["trigger"])
    return drawn.again(project, cell, check)


def _tried(project: Project, asked: Question, *, out: Path | None, warm: bool) -> Outcome:
    made = stamp.files(project, asked)
    folder = out or home(project) / stamp.slug_of(asked.cell)
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in made.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    lines = literals.lines(made.get("repro.py") or made["src/main.rs"])
    kind = asked.failing[0].kind
    try:
        ran = execute.run(project, asked.cell.column, folder, warm=warm)
    except CannotBuild as cannot:
        return _outcome(asked.cell, asked.record, kind, lines=lines, reason=f"{cannot.found}; do: {cannot.do}", output=cannot.log)
    why = accept.refused(asked, ran.code, ran.output)
    if not why and lines > literals.MOST_LINES:
        why = f"{lines} lines, and {literals.MOST_LINES} are a reader's patience"
    status = "cannot" if ran.code not in (0, 1) else "not-reproduced" if why else "reproduced"
    return _outcome(asked.cell, asked.record, kind, status=status, ran=ran, lines=lines, reason=why, output=ran.output)


def _outcome(
    cell: Cell,
    r: Record,
    kind: str,
    *,
    status: str = "cannot",
    ran: execute.Ran | None = None,
    lines: int = 0,
    reason: str,
    output: str = "",
) -> Outcome:
    return Outcome(
        slug=stamp.slug_of(cell),
        cell=cell.address,
        column=cell.column.id,
        asked=r["asked"],
        check=kind,
        status=status,
        code=ran.code if ran else None,
        seconds=ran.seconds if ran else 0.0,
        lines=lines,
        warm=ran.warm if ran else False,
        reason=reason,
        output=machine.portable(output, Project().root)[-4000:],
    )


def worst(found: Iterable[Record]) -> list[Record]:
    """Of the records of each (case or item, column) one: what is silent in it, in eager mode, of the plain variant and the widest type first."""
    chosen: dict[tuple[str, str, str], Record] = {}
    for r in sorted(found, key=lambda r: (r["mode"] == "compiled", r["variant"], r["dtype"] not in ("float32", "all"), r["dtype"])):
        chosen.setdefault((r["case"], r["item"], r["column"]), r)
    return list(chosen.values())
