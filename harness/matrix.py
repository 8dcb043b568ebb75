"""One run of the matrix: its cells, its store, its baseline and its tally; careful that a stopped run goes on where it was."""

from __future__ import annotations

import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from harness import cell as cells
from harness import pins, record, source, speed, verdict
from harness.ask import Asker
from harness.cell import Cell
from harness.errors import Exit
from harness.pins import Column
from harness.project import Project
from harness.record import Key, Record, Store


def all_cells(project: Project, columns: list[Column]) -> list[Cell]:
    known = {c.framework for c in pins.read(project.pins)}
    return cells.expand(cells.load_specs(project), columns, known)


@dataclass
class Tally:
    """What a run found, for its last lines and its exit status."""

    statuses: Counter[str] = field(default_factory=Counter)
    changes: dict[str, list[Record]] = field(default_factory=dict)
    errors: list[Record] = field(default_factory=list)

    def add(self, answer: Record, before: Record | None) -> None:
        self.statuses[answer["status"]] += 1
        self.changes.setdefault(verdict.change(answer, before), []).append(answer)
        # A device that was missing when the baseline was made is no news.
        known = before is not None and before["status"] == "error" and before["cause"] == answer["cause"] == "device"
        if answer["status"] == "error" and not known:
            self.errors.append(answer)

    def exit(self) -> Exit:
        if any(r["cause"] == "harness" for r in self.errors):
            return Exit.OURS
        if self.changes.get("new"):
            return Exit.NEW
        if self.errors:
            return Exit.NOT_ASKED
        return Exit.FIXED if self.changes.get("fixed") else Exit.CLEAN

    def lines(self) -> Iterator[str]:
        for how in ("new", "fixed", "changed"):
            for r in [r for r in self.changes.get(how, []) if r["status"] != "error"]:
                yield f"{how:8} {r['status']:8} {record.address(r)}: {r['message']}"
        causes = Counter((r["column"], r["cause"], r["message"]) for r in self.errors)
        for (column, cause, message), n in causes.items():
            yield f"error    {column}: {n} cells could not be asked ({cause}): {message}"
        yield ", ".join(f"{n} {s}" for s in verdict.STATUSES if (n := self.statuses[s])) or "no cells"


@dataclass
class Matrix:
    """Opened once per run. ``answer`` and ``answer_timed`` never raise for what a framework does."""

    project: Project
    cells: dict[str, Cell]
    store: Store
    baseline: dict[Key, Record]
    asker: Asker
    tally: Tally = field(default_factory=Tally)
    progress: Progress | None = None
    budget_s: float = 0.0  # none: as long as it takes
    _began: float = field(default_factory=time.monotonic)
    _task: Any = None
    left: int = 0  # cells that the budget left for later
    _done: dict[Key, Record] = field(default_factory=dict)
    _timed: dict[str, Record] = field(default_factory=dict)

    @classmethod
    def open(cls, project: Project, chosen: list[Cell], *, fresh: bool, sweep: bool = False) -> Matrix:
        """Take the results folder and go on with an unfinished run of the same cells, if there is one. A sweep goes on from any earlier one: what has
        not changed since is not asked again.

        Raises:
            CannotKeep: the folder cannot be written, or another run has it.
        """
        question = source.digest(*sorted(f"{c.id} {c.asked}" for c in chosen))
        baseline, broken = record.read_folder(project.baseline)
        folder = project.swept if sweep else project.latest
        earlier, more = record.read_folder(folder)  # before a new run tidies them away
        store = Store(folder).open(question, fresh=fresh)
        for line in [*broken, *more]:
            print(f"warning: {line}", file=sys.stderr)
        asker = Asker(project, store.run).__enter__()
        matrix = cls(
            project=project, cells={c.id: c for c in chosen}, store=store, baseline={record.key(r): r for r in baseline}, asker=asker
        )
        if sweep and not fresh:
            known = {record.key(r): r for r in earlier}
            matrix._done = {c.key: known[c.key] for c in chosen if c.key in known and matrix._same(c, known[c.key])}
        elif store.resumed:
            matrix._done = store.done()
        if matrix._done:
            print(
                f"going on with run {store.run}: {len(matrix._done)} of {len(chosen)} cells are measured already (--fresh asks all of them again)"
            )
        matrix._start_progress(len(chosen))
        return matrix

    def _same(self, cell: Cell, answer: Record) -> bool:
        """Whether an earlier answer is one to today's question, of today's environment."""
        environment = self.asker.environment(cell)
        same_lock: bool = answer["environment"]["lock"] == environment.lock
        return same_lock and answer["status"] != "error" and answer["asked"] == cell.asked

    def answer(self, cell_id: str) -> Record | None:
        """The record of a cell; None where the budget is used up."""
        cell = self.cells[cell_id]
        known = self._done.get(cell.key)
        if known is None:
            if self.budget_s and time.monotonic() - self._began > self.budget_s:
                self.left += 1
                return None
            self._show(cell)
            self.asker.close_others(cell.column.id)
            known = self.asker.ask(cell)
            self.store.append(known)
        return self._told(known)

    def answer_timed(self, cell_id: str) -> Record:
        """The record of a timed cell: the first one of a case asks all its columns, interleaved."""
        cell = self.cells[cell_id]
        known = self._done.get(cell.key) or self._timed.get(cell_id)
        if known is None:
            # All of them again, also where a stopped run had some: a ratio is of one run, interleaved.
            group = [c for c in self.cells.values() if c.spec.row == cell.spec.row and c.dtype == cell.dtype]
            for asked, answer in speed.measure(self.asker, group, said=self._show):
                self._timed[asked.id] = answer
                self.store.append(answer)
            known = self._timed[cell_id]
        return self._told(known)

    def close(self, *, finished: bool) -> None:
        if self.progress:
            self.progress.stop()
        self.asker.__exit__()
        if finished:
            self.store.finish()
        else:
            self.store.close()

    def overhead(self) -> dict[str, float]:
        """CPU seconds of this run that are not the framework's: this process, the workers' own, and each cell's beyond its framework."""
        me, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
        asked = max(1, sum(self.tally.statuses[s] for s in verdict.EXECUTED))
        own = me.ru_utime + me.ru_stime
        workers = children.ru_utime + children.ru_stime
        imports = sum(w.import_cpu_s for w in self.asker.ever)
        total = own + workers - imports - self.asker.framework_cpu_s
        return {
            "cells": asked,
            "own_cpu_s": round(own, 3),
            "framework_cpu_s": round(self.asker.framework_cpu_s + imports, 3),
            "per_cell_cpu_s": round(total / asked, 4),
        }

    def _told(self, answer: Record) -> Record:
        self.tally.add(answer, self.baseline.get(record.key(answer)))
        if self.progress:
            self.progress.advance(self._task)
        return answer

    def _start_progress(self, total: int) -> None:
        console = Console()
        if console.is_terminal:
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            self.progress = Progress(*columns, console=console, transient=True)
            self._task = self.progress.add_task("cells", total=total)
            self.progress.start()

    def _show(self, cell: Cell) -> None:
        if self.progress:
            self.progress.update(self._task, description=f"{cell.column.id} {cell.address}"[:44].ljust(44))
