"""Repros for the page: what was made of a record, as text; careful that one of an earlier answer is not shown for today's, and that no file outside is read."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import record
from harness.project import Project
from harness.report.packed import VISIBLE, blobs, opened, tidy
from harness.report.table import Record
from harness.repro import batch, one

TEXT = 40_000  # characters of one file: the longest repro has half of that
FILES = ("repro.py", "src/main.rs", "src/*.rs", "Cargo.toml")  # in this order; a lock is made again from Cargo.toml
SHOWN = ("status", "reason", "lines", "seconds", "warm", "output")


@dataclass(frozen=True)
class Repros:
    """``known``: a cell's address with its column -> what became of it."""

    known: Mapping[str, Mapping[str, Any]]

    def of(self, cell: Record) -> dict[str, Any] | None:
        """What was made of this very answer: status, reason, lines, seconds, warm, output and files; ``stale`` where it was of another, None where of none.

        ``files`` are [name, text, how many characters are not shown], and are there where it reproduced.
        """
        made = self.known.get(record.address(dict(cell)))
        if made is None:
            return None
        if made.get("asked") != cell["asked"]:
            return {"status": "stale"}
        return {name: made[name] for name in (*SHOWN, "files") if name in made}


def read(project: Project) -> Repros:
    """The lines of results/repros.jsonl, and over them what the folders of results/latest/repros say; a folder that cannot be read is left out.

    A repro whose folder is on another machine is shown as the committed page shows it, where it is of the same answer.
    """
    known = {_name(line): tidy(line) for line in batch.listed(project)}
    for name, made in _published(project.root / "results" / "matrix.html"):
        listed = known.setdefault(name, made)
        if (listed["asked"], listed["status"]) == (made["asked"], made["status"]):
            listed |= {key: made[key] for key in ("output", "files")}
    for folder, made in _folders(one.home(project)):
        reproduced = made["status"] == "reproduced"
        known[_name(made)] = {**tidy(made), "slug": folder.name, **({"files": list(_files(folder))} if reproduced else {})}
    return Repros(known)


def _published(page: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The repros with files that a page carries, each with what its record answered; none where it is no page of today's form."""
    with contextlib.suppress(OSError, ValueError, KeyError, IndexError, TypeError, AttributeError):
        carried = blobs(page.read_text(errors="replace"))
        for name in (n for n in carried if n.startswith("repros-")):
            records = opened(carried[name.replace("repros-", "records-")])
            for row, columns in opened(carried[name]).items():
                for column, own in columns.items():
                    for place, made in own.items():
                        if "files" in made:
                            told = records[row][column][int(place)]
                            yield record.address(told), {"asked": told["asked"], **made}


def _name(made: Mapping[str, Any]) -> str:
    return f"{made['cell']} {made['column']}"


def _folders(home: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    for file in sorted(home.glob("*/repro.json")):
        try:
            made = json.loads(file.read_text(errors="replace"))
        except (OSError, ValueError):
            continue
        if isinstance(made, dict) and {"cell", "column", "asked", *SHOWN} <= made.keys():
            yield file.parent, made


def _files(folder: Path) -> Iterator[tuple[str, str, int]]:
    home = folder.resolve()
    found = dict.fromkeys(path for pattern in FILES for path in sorted(folder.glob(pattern)))
    for path in found:
        if not path.is_file() or not path.resolve().is_relative_to(home):  # a link that leads elsewhere
            continue
        try:
            with path.open(encoding="utf-8", errors="replace") as opened:
                text = opened.read(TEXT)
                rest = max(0, path.stat().st_size - len(text.encode())) if len(text) == TEXT else 0
        except OSError:
            continue
        yield path.relative_to(folder).as_posix(), text.translate(VISIBLE), rest
