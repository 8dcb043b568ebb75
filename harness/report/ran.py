"""What ran: run files and environments, each on the page once; careful never to show a file as what ran when it has changed since."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.report import text
from harness.report.table import Record


@dataclass(frozen=True, kw_only=True)
class FileView:
    id: str
    path: str
    sha256: str  # of what ran
    text: str
    note: str  # why the text may not be what ran


@dataclass(frozen=True, kw_only=True)
class EnvironmentView:
    id: str
    column: str
    line: str
    facts: tuple[tuple[str, str], ...]


@dataclass
class Ran:
    """Collects the files and environments that the squares link to."""

    root: Path
    files: dict[tuple[str, str], FileView] = field(default_factory=dict)
    environments: dict[str, EnvironmentView] = field(default_factory=dict)

    def file(self, record: Record) -> FileView | None:
        path, sha256 = str(record["file"] or ""), str(record["file_sha256"] or "")
        if not path:
            return None
        if (path, sha256) not in self.files:
            known = any(p == path for p, _ in self.files)
            body, note = _read(self.root, path, sha256)
            name = f"file/{path}@{sha256[:12]}" if known else f"file/{path}"
            self.files[path, sha256] = FileView(id=name, path=path, sha256=sha256, text=body, note=note)
        return self.files[path, sha256]

    def environment(self, record: Record) -> EnvironmentView:
        facts: dict[str, Any] = {"column": record["column"], **record["environment"]}
        inner = facts.pop("facts", None) or {}
        name = json.dumps([facts, inner], sort_keys=True, default=str)
        if name not in self.environments:
            threads = facts.get("threads")
            line = [str(facts.get(k) or "") for k in ("platform", "cpu", "backend")]
            line += [f"python {facts['python']}"] if facts.get("python") else []
            line += [f"{threads} thread{'s' if threads != 1 else ''}"] if threads else []
            listed = [*facts.items(), *((f"framework: {k}", v) for k, v in inner.items())]
            self.environments[name] = EnvironmentView(
                id=f"environment-{len(self.environments) + 1}",
                column=str(record["column"]),
                line=" · ".join(filter(None, line)),
                facts=tuple((k, text.value(v)) for k, v in listed if v not in ("", None, {}, [])),
            )
        return self.environments[name]


def _read(root: Path, path: str, sha256: str) -> tuple[str, str]:
    """The text of a run file, and a warning where it is not known to be what ran."""
    file = (root / path).resolve()
    if not file.is_relative_to(root.resolve()) or not file.is_file():
        return "", "this file is not in the project any more"
    data = file.read_bytes()
    changed = sha256 != hashlib.sha256(data).hexdigest()
    return data.decode(errors="replace"), "changed since this run: the text below is today's, not what ran" if changed else ""
