"""Searches a framework's releases for what changed an answer; careful that every answer is on the disk before the next is asked."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from filelock import FileLock, Timeout

from harness import pins, record, verdict
from harness.ask import Asker
from harness.bisect import answer as answers
from harness.bisect import column as columns
from harness.bisect import commits, known, search, versions
from harness.bisect.answer import Answer
from harness.bisect.question import Question
from harness.cell import Cell
from harness.errors import BadInput, CannotBuild, CannotKeep
from harness.pins import Column
from harness.project import Project
from harness.record import Record

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the command line decides."""

    first: str = ""  # none: the oldest pinned version
    last: str = ""  # none: the newest stable release
    backend: str = ""
    pre: bool = False
    scan: bool = False
    fresh: bool = False  # ask again also what the matrix or an earlier search knows
    discard: bool = False  # remove each Python environment after its answer
    bad: tuple[str, ...] = verdict.BAD
    local: Path | None = None  # a clone to go on in, commit by commit
    old: str = ""  # the commits of its two ends, where no tag is named like the releases
    new: str = ""


@dataclass(kw_only=True)
class Bisection:
    """One search. ``entries`` has what each version said so far."""

    project: Project
    question: Question
    framework: str
    options: Options
    releases: versions.Releases
    chosen: list[str]
    say: Say = print
    entries: dict[str, Answer] = field(default_factory=dict)
    disagreements: list[str] = field(default_factory=list)
    _earlier: dict[str, Record] = field(default_factory=dict)  # cell id + lock -> a record of an earlier search
    _began: float = field(default_factory=time.monotonic)

    def column(self, version: str) -> Column:
        return pins.unpinned(self.project.pins, self.framework, version, self.options.backend)

    @property
    def file(self) -> Path:
        return answers.path(self.project, self.question.address, self.framework, self.options.backend)

    def run(self) -> Answer:
        """The whole answer, which is on the disk too.

        Raises:
            KeyboardInterrupt: after what is known was kept; the same command goes on.
            CannotKeep: the disk is full, or another search is running.
        """
        adhoc = columns.AdHoc(self.project.root)
        adhoc.environments.mkdir(parents=True, exist_ok=True)
        lock = FileLock(adhoc.environments / ".lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise CannotKeep("another search is building", "one at a time: they share their builds", "wait for it") from None
        with lock:
            sure = self._knows()
            try:
                found = search.search(len(self.chosen), self._ask, sure, scan=self.options.scan)
            except KeyboardInterrupt:
                self._keep(None)
                raise
            answer = self._keep(found)
            if self.options.local and found.flips:
                flip = found.flips[-1]
                answer = commits.search(self, answer, self.chosen[flip.before], self.chosen[flip.after], to_bad=flip.to_bad)
            return answer

    def _knows(self) -> dict[int, bool]:
        """The places that need no asking: the matrix or an earlier search has all of a version's cells. With ``fresh`` only a stopped search counts."""
        before = answers.read(self.file)
        if before and (not self.options.fresh or (before["fresh"] and not before["complete"])):
            for r in (r for old in before["versions"] if old["source"] != "matrix" for r in old["records"]):
                self._earlier[f"{record.address(r)} {r['asked']} {r['environment']['lock']}"] = r
        sure = {}
        for place, version in enumerate(self.chosen):
            if (entry := self._known(version)) is not None:
                self.entries[version] = entry
                if entry["bad"] is not None:
                    sure[place] = bool(entry["bad"])
        return sure

    def _known(self, version: str) -> Answer | None:
        column = self.column(version)
        cells = self._cells(column)
        lock = columns.lock_digest(self.project, column)
        earlier = [r for c in cells if (r := self._earlier.get(f"{c.address} {column.id} {c.asked} {lock}")) and known.answers(r)]
        has = known.of(self.project, cells)
        self.disagreements += has.disagreements
        self.disagreements += [
            d for r in earlier for old in has.records.values() if record.key(r) == record.key(old) for d in known.disagreement(old, r)
        ]
        if len(earlier) == len(cells):
            return answers.entry(version, earlier, self.options.bad, source="earlier")
        if len(has.records) == len(cells) and not self.options.fresh:
            return answers.entry(version, list(has.records.values()), self.options.bad, source="matrix")
        return None

    def _cells(self, column: Column) -> list[Cell]:
        cells = self.question.cells(self.project, column)
        if not cells or all(c.file is None for c in cells):
            what = f"nothing of {self.question.address} can be asked of {column.id}"
            raise BadInput(what, "a variant, a dtype and a mode that its run files have", "python -m harness list")
        return cells

    def _ask(self, place: int) -> bool | None:
        version = self.chosen[place]
        if version not in self.entries:
            self.entries[version] = self._entry(version)
            self._keep(None)
        entry = self.entries[version]
        self.say(f"{version:16} {entry['status']:8} {entry['source']:8} {entry['number'] or entry['message']}"[:150])
        bad: bool | None = entry["bad"]
        return bad

    def _entry(self, version: str) -> Answer:
        column = self.column(version)
        cells = self._cells(column)
        self.say(f"{version:16} building ...")
        start = time.monotonic()
        project, _ = columns.make(self.project, column, self.question.spec)
        built = time.monotonic()
        with Asker(project, run="bisect") as asker:
            records = [asker.ask(c) for c in cells]
        has = known.of(self.project, cells)
        for c, r in zip(cells, records, strict=True):
            if c.id in has.records:
                self.disagreements += known.disagreement(has.records[c.id], r)
        if self.options.discard:
            columns.discard(self.project, column)
        ends = {"build_s": built - start, "ask_s": time.monotonic() - built}
        return answers.entry(version, records, self.options.bad, source="asked", **ends)

    def _keep(self, found: search.Found | None) -> Answer:
        """Write what is known; whole where the search has ended."""
        flips = [
            {
                "before": self.chosen[f.before],
                "after": self.chosen[f.after],
                "to": "bad" if f.to_bad else "good",
                "between": [self.chosen[p] for p in f.between],
            }
            for f in (found.flips if found else [])
        ]
        worse = [f for f in flips if f["to"] == "bad"][-1:]
        better = [f for f in flips if f["to"] == "good"][-1:]
        listed = [self.entries[v] for v in self.chosen if v in self.entries]
        inside = [v for v in self.releases.versions if v not in self.chosen and pins.is_pre(v)]
        low, high = pins.release_key(self.chosen[0]), pins.release_key(self.chosen[-1])
        answer: Answer = {
            "schema": answers.SCHEMA,
            "kind": "bisect",
            "cell": self.question.address,
            "framework": self.framework,
            "backend": self.options.backend,
            "package": self.releases.package,
            "from": self.chosen[0],
            "to": self.chosen[-1],
            "bad": list(self.options.bad),
            "pre": self.options.pre,
            "fresh": self.options.fresh,
            "complete": found is not None,
            "scanned": bool(found and found.scanned),
            "first_bad": worse[0]["after"] if worse else None,
            "last_good": worse[0]["before"] if worse else None,
            "first_good": better[0]["after"] if better else None,
            "last_bad": better[0]["before"] if better else None,
            "flips": flips,
            "versions": listed,
            "not_asked": [v for v in self.chosen if v not in self.entries],
            "not_built": {e["version"]: f"{e['status']}: {e['message']}" for e in listed if e["bad"] is None},
            "yanked": {v: why for v, why in self.releases.yanked.items() if low <= pins.release_key(v) <= high},
            "pre_releases": [v for v in inside if low <= pins.release_key(v) <= high],
            "disagreements": list(dict.fromkeys(self.disagreements)),
            "commits": None,
            "asked_anew": sum(e["source"] != "matrix" for e in listed),
            "seconds": round(time.monotonic() - self._began, 1),
            **answers.stamp(),
        }
        answers.write(self.file, answer)
        return answer


def open_(project: Project, question: Question, framework: str, options: Options, say: Say = print) -> Bisection:
    """A search that is ready to run.

    Raises:
        BadInput: the framework has no pin, an end is not released, or the row is timed.
        CannotBuild: the registry's client is missing or cannot reach it.
    """
    if question.spec.case.timing:
        raise BadInput(
            f"{question.row} is a timed case", "a row whose checks decide", "its ratio is of one run with its reference: ask whole columns"
        )
    mine = [c for c in pins.read(project.pins) if c.framework == framework and c.backend == options.backend]
    newest = mine[-1].version if mine else "0"
    column = pins.unpinned(project.pins, framework, newest, options.backend)
    if unknown := set(options.bad) - set(verdict.STATUSES):
        raise BadInput(f"--bad {', '.join(sorted(unknown))}", f"some of {', '.join(verdict.STATUSES)}", "correct it")
    releases = versions.released(column, columns.AdHoc(project.root).environments, fresh=False)
    stable = [v for v in releases.versions if not pins.is_pre(v)]
    if not stable:
        raise CannotBuild("install", f"{releases.package} has no release", "at least two", "check the name in harness/pins.toml")
    first, last = options.first or mine[0].version, options.last or stable[-1]
    chosen = releases.between(first, last, pre=options.pre)
    return Bisection(project=project, question=question, framework=framework, options=options, releases=releases, chosen=chosen, say=say)
