"""Where in the project a cell's question stands: its run file and the line of the function asked; careful that a record's path cannot leave the project."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from harness.record import Record

RUST = re.compile(r"^\s*pub\s+fn\s+(?:r#)?(\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Place:
    """``file`` relative to the project, with slashes; ``line`` counts from 1."""

    file: str
    line: int


def place(root: Path, found: Record) -> Place:
    """The run file, or the case where there is none."""
    case = f"cases/{found['case']}/case.py"
    for file, function in ((str(found["file"]), str(found["function"])), (case, "CASE")):
        path = root / file
        if file and path.resolve().is_relative_to(root.resolve()) and path.is_file():
            return Place(path.resolve().relative_to(root.resolve()).as_posix(), _lines(path).get(function, 1))
    return Place("cases", 1)


@lru_cache
def _lines(path: Path) -> dict[str, int]:
    """Every function of a run file, or name of a case -> its line. What does not parse has none."""
    source = path.read_text(errors="replace")
    if path.suffix == ".rs":
        return {m[1]: source.count("\n", 0, m.start(1)) + 1 for m in RUST.finditer(source)}
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError):
        return {}
    named = {n.name: n.lineno for n in body if isinstance(n, ast.FunctionDef)}
    return named | {t.id: n.lineno for n in body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)}
