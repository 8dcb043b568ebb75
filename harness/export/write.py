"""The formats by name, and where they go; careful that a full disk leaves the file of yesterday, and that a device is never replaced by a file."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.errors import BadInput, CannotKeep
from harness.export import atom, badge, document, github, junit, markdown, openmetrics, sarif, tidy
from harness.export.gather import Selection


@dataclass(frozen=True)
class Format:
    """``file``: its name in the folder of `--all`."""

    file: str
    write: Callable[[Selection], str]
    what: str


FORMATS = {
    "csv": Format("results.csv", tidy.write, "one row a cell and metric"),
    "json": Format("results.json", document.write, "everything, under results.schema.json"),
    "junit": Format("junit.xml", junit.write, "JUnit XML: a suite a column, a test a cell"),
    "sarif": Format("results.sarif", sarif.write, "SARIF 2.1.0: a result a finding"),
    "openmetrics": Format("metrics.txt", openmetrics.write, "OpenMetrics text: verdicts, CPU time and ratios"),
    "annotations": Format("annotations.txt", github.annotate, "GitHub workflow commands for what is new"),
    "summary": Format("summary.md", github.summary, "Markdown for a GitHub job's summary"),
    "markdown": Format("table.md", markdown.write, "version | verdict | message, a table a question"),
    "badge": Format("badge.json", badge.write, "JSON of a shields.io endpoint"),
    "atom": Format("silent.atom", atom.write, "Atom feed of new silent cells"),
}


def one(name: str) -> Format:
    """The format of this name.

    Raises:
        BadInput: there is none.
    """
    if name not in FORMATS:
        raise BadInput(
            f"format {name!r}" if name else "no format", f"one of {', '.join(FORMATS)}", "for example: python -m harness export csv"
        )
    return FORMATS[name]


def everything(selection: Selection, folder: Path) -> list[tuple[Path, int]]:
    """Every format, and the JSON's schema, into one folder; each file with its size in bytes."""
    texts = {f.file: f.write for f in FORMATS.values()} | {document.SCHEMA.name: lambda _: document.SCHEMA.read_text()}
    with _kept(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return [(folder / file, put(write(selection), folder / file)) for file, write in texts.items()]


def put(text: str, out: Path | None) -> int:
    """Write to a file, all or nothing, or to standard output; the number of bytes.

    Raises:
        CannotKeep: it cannot be written.
    """
    data = text.encode()
    if out is None:
        _print(data)
    elif out.exists() and not out.is_file():  # a device, a pipe, or a folder, which says so itself
        with _kept(out), out.open("wb") as file:
            file.write(data)
    else:
        target = out.resolve()
        part = target.with_name(f"{target.name}.{os.getpid()}.part")
        with _kept(out):
            try:
                with part.open("wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(part, target)
            except OSError:
                part.unlink(missing_ok=True)
                raise
    return len(data)


def _print(data: bytes) -> None:
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
    except OSError as cannot:
        # Python flushes once more at its end: there must be nothing left that could fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(cannot, BrokenPipeError):  # `| head` has read enough
            raise _cannot("standard output", cannot) from cannot


@contextlib.contextmanager
def _kept(where: Path) -> Iterator[None]:
    try:
        yield
    except OSError as cannot:
        raise _cannot(str(where), cannot) from cannot


def _cannot(where: str, why: OSError) -> CannotKeep:
    return CannotKeep(
        f"cannot write {where}: {why.strerror or why}",
        "a writable place with room for some MB",
        "free the disk, or name another: --out PATH",
    )
