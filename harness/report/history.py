"""A row over the versions of each framework: first bad and last good, among the versions that were asked; careful to compare a backend only with itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from harness.report.evidence import Row, Square
from harness.verdict import EXECUTED


@dataclass(frozen=True, kw_only=True)
class Strip:
    """The squares of one row in one framework and backend, oldest version first."""

    name: str
    squares: tuple[Square, ...]
    says: str


def strips(row: Row) -> list[Strip]:
    """One a framework and backend of which two versions or more are in the table."""
    lines: dict[str, list[Square]] = {}
    for square in row.squares.values():  # in the order of columns: oldest first
        lines.setdefault(_line(square), []).append(square)
    return [Strip(name=name, squares=tuple(of), says="; ".join(says(of))) for name, of in lines.items() if len(of) > 1]


def _line(square: Square) -> str:
    """The framework, with what a column's name has after its version."""
    head = square.column
    rest = head.label.removeprefix(head.version).strip("-")
    return f"{head.framework} {rest}".strip()


def says(squares: Sequence[Square]) -> Iterator[str]:
    """Where the answer turned. A refusal (`loud`) is good; a version that could not be asked, or offers nothing, says nothing."""
    asked = [s for s in squares if s.status in EXECUTED]
    for before, after in pairwise(asked):
        if after.found and not before.found:
            yield f"first bad {after.column.version}, last good {before.column.version}"
        elif before.found and not after.found:
            yield f"good from {after.column.version}, last bad {before.column.version}"
    if asked and all(s.found for s in asked):
        yield f"bad in {'every version' if len(asked) > 1 else 'the version'} asked: {_range(asked)}"


def _range(asked: Sequence[Square]) -> str:
    versions = [s.column.version for s in asked]
    return " to ".join(dict.fromkeys((versions[0], versions[-1])))
