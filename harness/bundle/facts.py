"""What is known of one failing cell, gathered for a report upstream; careful that each number comes from a record, the reference or a repro that was run."""

from __future__ import annotations

import json
import platform
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness import verdict
from harness.bisect.answer import Answer
from harness.bundle.collect import portable
from harness.case import Spec
from harness.cell import Cell
from harness.pins import Column
from harness.project import Project
from harness.record import Record


@dataclass(frozen=True, kw_only=True)
class Line:
    """One check of the cell: what came, what the float64 reference says at the worst place, and what error was allowed there and why."""

    check: str
    holds: bool
    got: str
    want: str
    times: str  # error over allowed error
    allowed: str
    why: str
    note: str


@dataclass(frozen=True, kw_only=True)
class Repro:
    """The folder of a repro that was run, and what its repro.json says."""

    folder: Path
    said: dict[str, Any]
    main: Path

    @property
    def code(self) -> str:
        return self.main.read_text().strip()

    @property
    def language(self) -> str:
        return "rust" if self.main.suffix == ".rs" else "python"

    @property
    def exit(self) -> int | None:
        code: int | None = self.said.get("code")
        return code


@dataclass(frozen=True, kw_only=True)
class Facts:
    project: Project
    cell: Cell
    record: Record
    repro: Repro
    lines: tuple[Line, ...]
    references: dict[str, str]  # output -> the float64 reference, where it is small enough to print
    versions: tuple[Record, ...]  # the same question to every version of the framework, oldest first
    others: tuple[Record, ...]  # to the newest asked version of every other framework
    variants: tuple[Record, ...]  # by the framework's other paths
    bisect: Answer | None
    tracker: str
    links: tuple[str, ...]
    environment: str = ""
    human: dict[str, str] = field(default_factory=dict)

    @property
    def spec(self) -> Spec:
        return self.cell.spec

    @property
    def column(self) -> Column:
        return self.cell.column

    @property
    def package(self) -> list[str]:
        """Name and version of what was asked, as the framework itself said them."""
        said = {k: v for k, v in self.record["environment"]["facts"].items() if isinstance(v, str) and v[:1].isdigit()}
        own = self.column.crates or (self.column.requires[0].partition("==")[0],)
        return [f"{name} {said.get(name, self.record['version'])}" for name in own]

    @property
    def turned(self) -> tuple[str, str, str]:
        """First bad, last good, and who says so: bisect where it was asked, else the versions of the matrix."""
        if self.bisect and self.bisect["first_bad"]:
            return self.bisect["first_bad"], self.bisect["last_good"], "bisect"
        executed = [r for r in self.versions if r["status"] in verdict.EXECUTED]
        first = next((i for i, r in enumerate(executed) if r["status"] in verdict.BAD), None)
        if first is None:
            return "", "", "matrix"
        return str(executed[first]["version"]), str(executed[first - 1]["version"]) if first else "", "matrix"

    @property
    def dependencies(self) -> str:
        """Of a Rust repro: the lines of its Cargo.toml that a reader needs, as comments."""
        manifest = self.repro.folder / "Cargo.toml"
        if self.repro.language != "rust" or not manifest.is_file():
            return ""
        wanted = tomllib.loads(manifest.read_text()).get("dependencies", {})
        return "".join(f"// {name} = {json.dumps(what)}\n" for name, what in wanted.items())

    @property
    def output(self) -> str:
        """What the repro printed when it was run."""
        return portable(str(self.repro.said.get("output", "")).strip(), self.project)

    @property
    def backend(self) -> str:
        return "Metal" if "metal" in self.column.backend else "CUDA" if "cuda" in self.column.backend else "CPU"

    @property
    def platform(self) -> str:
        system = platform.system()
        if system == "Darwin":
            return "macOS (Apple Silicon)" if platform.machine() == "arm64" else "macOS (Intel)"
        return system if system in ("Linux", "Windows") else "Other"

    @property
    def conditions(self) -> dict[str, bool]:
        """What the answers prove of candle's boxes; a box that nothing proves stays empty."""
        contiguous = [r for r in self.variants if r["variant"] == "contiguous"]
        layout = self.spec.case.failure == "layout" or any(
            word in self.record["message"] for word in ("transposed", "strided", "broadcast")
        )
        return {
            "Issue occurs with contiguous tensors": any(r["status"] in verdict.BAD for r in contiguous),
            "Issue occurs after transpose/reshape": layout and all(r["status"] not in verdict.BAD for r in contiguous),
        }
