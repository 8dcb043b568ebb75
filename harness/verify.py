"""`verify`: asks committed cells again and compares status and values; careful that a difference is reported, never smoothed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from harness import environment, pins, record, summary
from harness.ask import Asker
from harness.matrix import all_cells
from harness.project import Project
from harness.record import Record


@dataclass(frozen=True, kw_only=True)
class Difference:
    cell: str
    what: str
    committed: str
    now: str


def sample(project: Project, n: int, seed: int) -> list[Record]:
    """``n`` committed, current, executed records of columns that this machine has built, drawn at random."""
    cells = all_cells(project, pins.read(project.pins))
    records, _ = record.read_folder(project.baseline)
    built = {c.id for c in pins.read(project.pins) if not environment.read(project, c).cause}
    able = [
        r for r in summary.current(cells, records) if r["column"] in built and r["status"] not in ("error", "untested") and not r["speed"]
    ]
    return random.Random(seed).sample(able, min(n, len(able)))  # noqa: S311  a sample, not a secret


def verify(project: Project, committed: list[Record], said: Callable[[Record], None] = lambda _: None) -> Iterator[Difference]:
    """Ask each again. Status and failed checks must be the same, and each failed check's got the same to its seven digits or to 1 % of it."""
    cells = {c.key: c for c in all_cells(project, pins.read(project.pins))}
    with Asker(project, run="verify") as asker:
        for old in sorted(committed, key=lambda r: r["column"]):
            asker.close_others(old["column"])
            said(old)
            new = asker.ask(cells[record.key(old)])
            yield from compare(old, new)


def compare(old: Record, new: Record) -> Iterator[Difference]:
    name = record.address(old)
    if old["status"] != new["status"]:
        yield Difference(cell=name, what="status", committed=f"{old['status']}: {old['message']}", now=f"{new['status']}: {new['message']}")
        return
    before, after = ({c["check"]: c for c in r["checks"]} for r in (old, new))
    for check in sorted(set(before) | set(after)):
        a, b = before.get(check), after.get(check)
        if a is None or b is None or a["holds"] != b["holds"]:
            yield Difference(cell=name, what=check, committed=str(a and a["holds"]), now=str(b and b["holds"]))
        elif (
            not a["holds"] and check != "accepts" and not _near(a["got"], b["got"])
        ):  # what lies outside of a tensor is another number each time
            yield Difference(cell=name, what=f"{check}: got", committed=str(a["got"]), now=str(b["got"]))


def _near(a: float | str, b: float | str) -> bool:
    if isinstance(a, str) or isinstance(b, str):
        return a == b
    # Another machine's SIMD width changes the order of sums: a wrong value moves by less than 1 %, not by its kind.
    return abs(a - b) <= 1e-2 * max(abs(a), abs(b))
