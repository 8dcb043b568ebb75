"""Markdown: what each version of a framework answered, as an upstream issue wants it; careful that foreign text stays within its cell."""

from __future__ import annotations

import re

from harness.export import clean
from harness.export.gather import Selection
from harness.record import Record, row_of
from harness.report.table import fold

QUIET = ("ok", "absent", "untested")


def write(selection: Selection) -> str:
    """A table a question and framework (version | verdict | message); where something is wrong, only those questions."""
    groups: dict[tuple[str, str], list[tuple[str, list[Record]]]] = {}
    for word, of in selection.squares:
        groups.setdefault((row_of(of[0]), str(of[0]["framework"])), []).append((word, of))
    shown = {k: v for k, v in groups.items() if any(word not in QUIET for word, _ in v)} or groups
    parts = [_section(selection, name, framework, of) for (name, framework), of in shown.items()]
    if len(shown) < len(groups):
        parts.append(f"{len(groups) - len(shown)} more questions hold wherever they were asked.\n")
    return "\n".join(parts)


def _section(selection: Selection, name: str, framework: str, squares: list[tuple[str, list[Record]]]) -> str:
    claim = clean.line(selection.claim(squares[0][1][0]))
    lines = [f"### {code(name)} in {code(framework)}", "", *([f"{code(claim)}", ""] if claim else [])]
    lines += ["| version | verdict | message |", "|---|---|---|"]
    for word, of in squares:
        head = selection.columns[of[0]["column"]]
        parts = ", ".join(fold(of))
        worst = next(r for r in of if r["status"] == word)
        lines.append(f"| {code(head.label)} | {word}{f' ({code(parts)})' if parts else ''} | {code(worst['message'])} |")
    return "\n".join([*lines, ""])


def code(value: object) -> str:
    """Foreign text as a code span, in which no tag, link, mention or emphasis means anything; a pipe is escaped, as a table's cell needs it."""
    text = re.sub(r"\\(?=\|)", r"\\ ", clean.line(value)).replace("|", r"\|")
    if not text:
        return ""
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"
