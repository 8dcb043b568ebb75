"""Goes on from two releases to one commit, in a local clone; git keeps the search itself, in a worktree of its own, so that a kill loses one answer at most."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from harness.ask import Asker
from harness.bisect import answer as answers
from harness.bisect import column as columns
from harness.bisect.answer import Answer
from harness.errors import BadInput

if TYPE_CHECKING:
    from harness.bisect.run import Bisection

OLD, NEW = "unchanged", "changed"  # git's words for the two sides: a repair is looked for like a defect
FIRST = re.compile(rf"^# first {NEW} commit: \[(?P<commit>[0-9a-f]+)\]", re.MULTILINE)
POSSIBLE = re.compile(rf"^# possible first {NEW} commit: \[(?P<commit>[0-9a-f]+)\]", re.MULTILINE)


class Clone:
    """A worktree of a clone in which git bisects; the clone's own files and branches are never touched."""

    def __init__(self, clone: Path, folder: Path) -> None:
        self.clone, self.folder = clone.resolve(), folder.resolve()

    def git(self, *arguments: str, where: Path | None = None, check: bool = True) -> str:
        done = subprocess.run(["git", *arguments], cwd=where or self.folder, capture_output=True, text=True, check=False)
        if check and done.returncode:
            said = " ".join((done.stderr or done.stdout).split())[-300:]
            raise BadInput(
                f"git {' '.join(arguments[:3])}: {said}",
                "a clone with the commits between both releases",
                "git fetch --tags, or correct --local",
            )
        return done.stdout

    def commit(self, version: str, given: str, names: tuple[str, ...]) -> str:
        """The commit of a release: as given, or by the usual names of tags.

        Raises:
            BadInput: none of them is there.
        """
        tried = (
            [given] if given else [f"refs/tags/{prefix}{version}" for prefix in ("", "v", *(f"{n}-{v}" for n in names for v in ("", "v")))]
        )
        for name in tried:
            if found := self.git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", where=self.clone, check=False).strip():
                return found
        raise BadInput(
            f"no commit of {version} in the clone",
            f"a tag such as {version} or v{version}",
            "git fetch --tags, or name both: --old REV --new REV",
        )

    def begin(self, old: str, new: str) -> None:
        """Start git's search, or go on with a stopped one of the same two commits."""
        log = self.git("bisect", "log", check=False) if (self.folder / ".git").exists() else ""
        if f"git bisect start '--term-old={OLD}' '--term-new={NEW}' '{new}' '{old}'" in log:
            return
        self.end()
        self.git("worktree", "add", "--detach", "--force", str(self.folder), new, where=self.clone)
        self.git("bisect", "start", f"--term-old={OLD}", f"--term-new={NEW}", new, old)

    def mark(self, word: str) -> None:
        self.git("bisect", word, check=False)  # 2 where only skipped commits are left, which the log says too

    def log(self) -> str:
        return self.git("bisect", "log")

    def head(self) -> str:
        return self.git("rev-parse", "HEAD").strip()

    def end(self) -> None:
        """Take the worktree away."""
        self.git("worktree", "remove", "--force", str(self.folder), where=self.clone, check=False)
        self.git("worktree", "prune", where=self.clone, check=False)


def walk(clone: Clone, ask: Callable[[str], bool | None], *, bad_before: bool) -> tuple[str | None, list[str]]:
    """The first changed commit, or where commits that cannot be asked hide it, those it may be. ``ask`` finds each checked out."""
    while True:
        log = clone.log()
        if first := FIRST.search(log):
            return first["commit"], []
        if possible := POSSIBLE.findall(log):
            return None, list(dict.fromkeys(possible))
        bad = ask(clone.head())
        clone.mark("skip" if bad is None else OLD if bad == bad_before else NEW)


def search(bisection: Bisection, answer: Answer, before: str, after: str, *, to_bad: bool) -> Answer:
    """The answer with what git's own search between two releases found; written after every commit.

    Raises:
        BadInput: no clone, or no such commits.
    """
    options = bisection.options
    assert options.local
    adhoc = columns.AdHoc(bisection.project.root)
    folder = adhoc.environments / "git" / answers.path(bisection.project, bisection.question.address, bisection.framework).stem
    folder.parent.mkdir(parents=True, exist_ok=True)
    clone = Clone(options.local, folder)
    base = bisection.column(before)
    old, new = (
        clone.commit(before, options.old, base.crates or (bisection.framework,)),
        clone.commit(after, options.new, base.crates or (bisection.framework,)),
    )
    earlier = answers.read(bisection.file.with_suffix(".commits.json"))
    verdicts = earlier["commits"]["verdicts"] if earlier and earlier["commits"] and earlier["commits"]["old"] == old else []

    def keep(first: str | None, candidates: list[str], *, complete: bool) -> Answer:
        found = {"old": old, "new": new, "first": first, "candidates": candidates, "complete": complete, "verdicts": verdicts}
        whole = {**answer, "commits": found}
        answers.write(bisection.file, whole)
        answers.write(bisection.file.with_suffix(".commits.json"), whole)
        return whole

    def ask(commit: str) -> bool | None:
        start = time.monotonic()
        column = dataclasses.replace(base, local=str(clone.folder))
        project, _ = columns.make(bisection.project, column, bisection.question.spec)
        with Asker(project, run="bisect") as asker:
            records = [asker.ask(c) for c in bisection.question.cells(bisection.project, column)]
        said = answers.entry(commit, records, options.bad, source="asked")
        bisection.say(f"{commit[:12]:16} {said['status']:8} {said['number'] or said['message']}"[:150])
        verdicts.append(
            {"commit": commit, **{k: said[k] for k in ("bad", "status", "message")}, "seconds": round(time.monotonic() - start, 1)}
        )
        keep(None, [], complete=False)
        bad: bool | None = said["bad"]
        return bad

    clone.begin(old, new)
    first, candidates = walk(clone, ask, bad_before=not to_bad)
    clone.end()
    return keep(first, candidates, complete=True)
