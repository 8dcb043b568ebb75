"""Where things are: a project is a folder with cases, pins and results; careful that nothing else decides a path."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Project:
    """The repository itself, or another folder of the same shape (private cases, or the fakes of our tests)."""

    root: Path = ROOT

    @property
    def cases(self) -> Path:
        return self.root / "cases"

    @property
    def pins(self) -> Path:
        return self.root / "harness" / "pins.toml"

    @property
    def locks(self) -> Path:
        return self.root / "harness" / "locks"

    @property
    def frameworks(self) -> Path:
        return self.root / "harness" / "frameworks"

    @property
    def environments(self) -> Path:
        """Built environments and their manifests; `clean` deletes it."""
        return self.root / ".nox"

    @property
    def results(self) -> Path:
        # A nightly runs beside a person's own results: one variable moves them.
        return Path(os.environ.get("SILENTBENCH_RESULTS", self.root / "results"))

    @property
    def latest(self) -> Path:
        return self.results / "latest"

    @property
    def swept(self) -> Path:
        """The sweep's latest records: a run of its own, which goes on by itself."""
        return self.latest / "sweep"

    @property
    def baseline(self) -> Path:
        return self.root / "results" / "baseline" / platform_name()


def replace(path: Path, text: str) -> None:
    """Put a file with this text in the place of what was there, at once: a kill leaves the old one."""
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


def platform_name() -> str:
    """The folder of a baseline: kernel and machine, e.g. ``linux-x86_64``."""
    return f"{platform.system().lower()}-{platform.machine()}"


def objects(file: Path) -> list[dict[str, Any]]:
    """The JSON objects of a file with one a line; a line that is none is left out, and where there is no file there are none."""
    found = []
    try:
        lines = file.read_text(errors="replace").splitlines()
    except OSError:
        return []
    for line in lines:
        try:
            read = json.loads(line)
        except ValueError:
            continue
        if isinstance(read, dict):
            found.append(read)
    return found
