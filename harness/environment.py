"""A column's environment as the harness sees it: a small manifest written when it was built; careful that a failed build is a fact with a cause."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from harness.errors import CannotBuild, Cause
from harness.pins import Column
from harness.project import Project, replace


@dataclass(frozen=True, kw_only=True)
class Environment:
    """Where a column's interpreter or probe is, or why there is none. Keys of ``dropped`` are run files' ``case/variant/function``."""

    column: str
    python: str = ""
    binary: str = ""
    swept: str = ""  # the probe of the sweep's operations
    lock: str = ""  # the first 16 hex digits of the lock file's sha256
    backend: str = ""  # e.g. "cpu" where torch came from uv's CPU index
    local: str = ""
    version: str = ""  # what was really built, where it is local
    toolchain: str = ""
    dropped: dict[str, dict[str, Any]] = field(default_factory=dict)
    compiled: dict[str, str] = field(default_factory=dict)  # run file -> sha256 of the text that is in the binary
    glue: str = ""  # of a binary: the digest of the harness's own files in it, `cell.between`
    cause: Cause | None = None
    found: str = ""
    wanted: str = ""
    do: str = ""

    @property
    def problem(self) -> str:
        return f"{self.found}; wanted: {self.wanted}; do: {self.do}" if self.cause else ""


def failed(column: Column, problem: CannotBuild) -> Environment:
    return Environment(column=column.id, cause=problem.cause, found=problem.found, wanted=problem.wanted, do=problem.do)


def manifest(project: Project, column: Column) -> Path:
    return project.environments / "ready" / f"{column.id}.json"


def write(project: Project, environment: Environment, column: Column) -> None:
    path = manifest(project, column)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace(path, json.dumps(asdict(environment), indent=1) + "\n")


def read(project: Project, column: Column) -> Environment:
    """The manifest of a built column; a missing or unreadable one is an environment with the cause `install`, never an exception."""
    path = manifest(project, column)
    try:
        environment = Environment(**json.loads(path.read_text()))
    except FileNotFoundError:
        return failed(
            column, CannotBuild("install", f"{column.id} is not built", "its environment", f'python3 noxfile.py -s "cells({column.id})"')
        )
    except (OSError, ValueError, TypeError) as bad:
        return failed(
            column,
            CannotBuild(
                "install", f"{path.name} cannot be read: {bad}", "the manifest of a build", f'python3 noxfile.py -s "cells({column.id})"'
            ),
        )
    gone = environment.python or environment.binary
    if not environment.cause and not Path(gone).exists():
        return failed(
            column,
            CannotBuild(
                "install",
                f"{column.id}: its interpreter or probe is gone",
                "a built environment",
                f'python3 noxfile.py -s "cells({column.id})"',
            ),
        )
    return environment


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def lock_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.exists() else ""
