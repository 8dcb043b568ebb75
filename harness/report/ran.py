"""What ran: run files and environments, each on the page once; careful never to show a file as what ran when it has changed since."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pygments.lexer import Lexer
from pygments.lexers import PythonLexer, RustLexer
from pygments.token import Comment, Keyword, Name, Number, String

from harness.report.packed import VISIBLE, tidy
from harness.report.table import Record

FILE_SHOWN = 60_000  # characters: the longest run file of a sweep has half of that
COLOURS = {Comment: "c", String: "s", Keyword: "k", Number: "n", Name.Function: "f", Name.Builtin: "b", Name.Decorator: "b"}


@dataclass
class Ran:
    """Collects the files and environments that the squares link to."""

    root: Path
    environments: list[dict[str, Any]] = field(default_factory=list)
    _known: dict[str, int] = field(default_factory=dict)

    def environment(self, record: Record) -> int:
        """Its place in ``environments``."""
        name = json.dumps(record["environment"], sort_keys=True, default=str)
        if name not in self._known:
            self._known[name] = len(self.environments)
            self.environments.append(tidy(dict(record["environment"] or {})))
        return self._known[name]

    def file(self, path: str, sha256: str) -> dict[str, Any]:
        """A run file for the page: ``text`` as lines of [colour, text] pieces, ``note`` where it may not be what ran."""
        body, note = self._read(path, sha256)
        cut = len(body) - FILE_SHOWN
        if cut > 0:
            body, note = body[:FILE_SHOWN], f"{note + '; ' if note else ''}{cut} more characters are in the file"
        return {"path": path, "sha256": sha256, "note": note, "lines": list(_lines(body, path)) if body else []}

    def _read(self, path: str, sha256: str) -> tuple[str, str]:
        try:
            file = (self.root / path).resolve()
            inside = file.is_relative_to(self.root.resolve()) and file.is_file()
            data = file.read_bytes() if inside else b""
        except (OSError, ValueError):  # a name that no file can have
            inside = False
        if not inside:
            return "", "this file is not in the project any more"
        changed = sha256 != hashlib.sha256(data).hexdigest()
        text = data.decode(errors="replace").replace("\r\n", "\n").translate(VISIBLE)
        return text, "changed since this run: the text below is today's, not what ran" if changed else ""


def _lines(text: str, path: str) -> Iterator[list[list[str]]]:
    """The text line by line, neighbouring pieces of one colour joined."""
    lexer: Lexer = RustLexer() if path.endswith(".rs") else PythonLexer()
    line: list[list[str]] = []
    for token, piece in lexer.get_tokens(text):
        colour = next((COLOURS[t] for t in (token, token.parent) if t in COLOURS), "")
        if not colour:
            colour = next((short for kind, short in COLOURS.items() if token in kind), "")
        for at, part in enumerate(piece.split("\n")):
            if at:
                yield line
                line = []
            if part and line and (line[-1][0] == colour or part.isspace()):
                line[-1][1] += part
            elif part:
                line.append([colour, part])
    if line:
        yield line
