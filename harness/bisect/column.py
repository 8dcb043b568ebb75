"""Ad-hoc columns: a released version that needs no pin, in an environment under .nox/bisect; careful never to touch a pinned column's."""

from __future__ import annotations

import shutil
from pathlib import Path

from harness import build, environment
from harness.case import Spec
from harness.environment import Environment
from harness.errors import CannotBuild
from harness.pins import Column
from harness.project import Project


class AdHoc(Project):
    """The same cases and adapters, with environments and locks of their own."""

    @property
    def environments(self) -> Path:
        return super().environments / "bisect"

    @property
    def locks(self) -> Path:
        return self.environments / "locks"


def make(project: Project, column: Column, spec: Spec) -> tuple[Project, Environment]:
    """Lock and build one column for one case, quick where it is there already; and the project whose manifest says so.

    A pinned version takes its pinned lock; a Python one that nox has built is asked where it is.
    """
    pinned = project.locks / column.lock
    if column.language == "python" and not column.local and pinned.exists():
        ready = environment.read(project, column)
        if not ready.cause and ready.lock == environment.lock_digest(pinned) and not ready.backend:
            return project, ready
    adhoc = AdHoc(project.root)
    try:
        _prepare(project, adhoc, column)
        venv = _venv(adhoc, column) if column.language == "python" else None
    except CannotBuild as problem:
        failed = environment.failed(column, problem)
        environment.write(adhoc, failed, column)
        return adhoc, failed
    return adhoc, build.build(adhoc, column, [spec], venv=venv)


def _prepare(project: Project, adhoc: AdHoc, column: Column) -> None:
    adhoc.locks.mkdir(parents=True, exist_ok=True)
    drawn = adhoc.environments / "sweep"  # examples of a sweep are the same for every column: drawn once
    if not drawn.exists():
        (project.environments / "sweep").mkdir(exist_ok=True)
        drawn.symlink_to(Path("..") / "sweep")
    pinned, mine = project.locks / column.lock, adhoc.locks / column.lock
    if pinned.exists():
        shutil.copyfile(pinned, mine)
    elif not mine.exists():
        build.lock(adhoc, column)


def _venv(adhoc: AdHoc, column: Column) -> Path:
    folder = adhoc.environments / f"cells-{column.id}"
    if not (folder / "bin" / "python").exists():
        build.make_venv(column, folder)
    return folder


def discard(project: Project, column: Column) -> None:
    """Give back the disk of a Python column; crates' builds are shared."""
    shutil.rmtree(AdHoc(project.root).environments / f"cells-{column.id}", ignore_errors=True)


def lock_digest(project: Project, column: Column) -> str:
    """The digest of the lock a column will be asked with; empty before there is one."""
    pinned = project.locks / column.lock
    return environment.lock_digest(pinned if pinned.exists() else AdHoc(project.root).locks / column.lock)
