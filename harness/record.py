"""The records: one JSON line a cell, appended as it ends; careful that a kill, a full disk or a bad line never costs what was measured."""

from __future__ import annotations

import contextlib
import json
import math
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from harness.case import SWEPT
from harness.errors import CannotKeep
from harness.project import replace

SCHEMA = 1
SCHEMA_FILE = Path(__file__).with_name("record.schema.json")
Record = dict[str, Any]
Key = tuple[str, str, str, str, str, str]


def key(record: Record) -> Key:
    """What a record answers; of two with the same key the later one holds."""
    return (record["case"], record["item"], record["variant"], record["dtype"], record["mode"], record["column"])


def row_of(record: Mapping[str, Any]) -> str:
    return f"{record['case']}:{record['item']}" if record["item"] else str(record["case"])


def address(record: Record) -> str:
    variant = f"/{record['variant']}" if record["variant"] else ""
    return f"{row_of(record)}{variant}@{record['dtype']}{'+compiled' if record['mode'] == 'compiled' else ''} {record['column']}"


def command(record: Mapping[str, Any]) -> str:
    """What asks a record's row of its column again."""
    column = record["column"]
    session = f"-s sweep -- --columns {column}" if record["dtype"] == SWEPT else f'-s "cells({column})" --'
    return f'python3 noxfile.py {session} -k "{row_of(record)}"'


def plain(value: Any) -> Any:
    """JSON has no infinity and no NaN: they are written as words; numbers keep seven digits."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, float):
        return float(f"{value:.7g}") if math.isfinite(value) else str(value)
    return value


@dataclass(frozen=True)
class BadLine:
    """A line that is no record: reported with its place, and skipped."""

    file: Path
    line: int
    why: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.why}; skipped (that cell will be asked again)"


def read(file: Path) -> tuple[list[Record], list[BadLine]]:
    """Every record of a file, in order, and every line that is none."""
    records: list[Record] = []
    bad: list[BadLine] = []
    if not file.is_file():
        return records, bad
    for number, line in enumerate(file.read_bytes().split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            problem = _problem(record)
        except ValueError as broken:
            record, problem = None, f"not JSON ({broken})" if line.startswith(b"{") else "not a record"
        if problem:
            bad.append(BadLine(file, number, problem))
        else:
            records.append(record)
    return records, bad


def _problem(record: Any) -> str:
    """Why this is no record of this schema; the quick checks that reading needs (the full schema is for `validate`)."""
    if not isinstance(record, dict):
        return "not a record"
    if record.get("schema") != SCHEMA:
        return f"schema {record.get('schema')!r}, wanted {SCHEMA}"
    missing = [k for k in _required() if k not in record]
    return f"no {', '.join(missing)}" if missing else ""


@lru_cache
def _required() -> tuple[str, ...]:
    return tuple(json.loads(SCHEMA_FILE.read_text())["required"])


def validate(record: Record) -> None:
    """Hold a record against the JSON Schema.

    Raises:
        ValueError: it does not fit; the message names the field.
    """
    try:
        fits(record, SCHEMA_FILE, "record")
    except ValueError as bad:
        raise ValueError(f"{address(record)}: {bad}") from bad


def fits(value: dict[str, Any], schema: Path, what: str) -> None:
    """Hold a value against a JSON Schema.

    Raises:
        ValueError: it does not fit; the message names the field, or ``what`` it is where the whole is wrong.
    """
    import jsonschema

    try:
        jsonschema.validate(value, json.loads(schema.read_text()))
    except jsonschema.ValidationError as bad:
        raise ValueError(f"{'.'.join(map(str, bad.absolute_path)) or what}: {bad.message}") from bad


def read_folder(folder: Path) -> tuple[list[Record], list[BadLine]]:
    """Every record of a folder's columns; of two answers to one question the later holds."""
    records: dict[Key, Record] = {}
    bad: list[BadLine] = []
    for file in sorted(folder.glob("*.jsonl")):
        found, broken = read(file)
        bad += broken
        for record in found:
            records.pop(key(record), None)
            records[key(record)] = record
    return list(records.values()), bad


def newest(*folders: Path) -> list[Record]:
    """The newest record of each cell, of all that the folders have."""
    found: dict[Key, Record] = {}
    for record in (r for folder in folders for r in read_folder(folder)[0]):
        if key(record) not in found or record["at"] >= found[key(record)]["at"]:
            found[key(record)] = record
    return list(found.values())


def write_folder(folder: Path, records: Iterable[Record]) -> None:
    """Replace a folder's columns by these records, each file at once."""
    columns: dict[str, list[Record]] = {}
    for record in records:
        columns.setdefault(record["column"], []).append(record)
    with _kept(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for column, mine in columns.items():
            part = folder / f"{column}.jsonl.part"
            with part.open("w") as out:
                out.writelines(_line(r) for r in sorted(mine, key=key))
                out.flush()
                os.fsync(out.fileno())
            os.replace(part, folder / f"{column}.jsonl")


def _line(record: Record) -> str:
    return json.dumps(record, separators=(",", ":"), sort_keys=False) + "\n"


@contextlib.contextmanager
def _kept(where: Path) -> Iterator[None]:
    try:
        yield
    except OSError as cannot:
        raise CannotKeep(
            f"cannot write {where}: {cannot.strerror or cannot}",
            "a writable results folder with room for some MB",
            "free the disk or make it writable (or set SILENTBENCH_RESULTS), then run the same command: it goes on where it stopped",
        ) from cannot


@dataclass
class Store:
    """The folder of a run in progress: one writer at a time, and a state that lets the same command go on after a kill."""

    folder: Path
    run: str = ""
    resumed: int = 0
    _files: dict[str, int] = field(default_factory=dict)
    _lock: FileLock | None = None

    def open(self, question: str, *, fresh: bool = False) -> Store:
        """Take the folder for one run of ``question`` (the selection's digest); an unfinished run of the same question is gone on with.

        Raises:
            CannotKeep: the folder cannot be written, or another run has it.
        """
        with _kept(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(self.folder / ".lock")
            try:
                self._lock.acquire(timeout=0)
            except Timeout:
                raise CannotKeep(
                    f"another run is writing {self.folder}",
                    "one run at a time",
                    "wait for it, or give this one its own folder: SILENTBENCH_RESULTS=...",
                ) from None
            state = self._state()
            if not fresh and state.get("question") == question and not state.get("ended"):
                self.run, self.resumed = state["run"], 1
            else:
                self.run = time.strftime("%Y%m%dT%H%M%SZ-", time.gmtime()) + os.urandom(2).hex()
                self._tidy()
                self._write_state({"run": self.run, "question": question, "started": _now(), "ended": None})
        return self

    def done(self) -> dict[Key, Record]:
        """What this run, before it was stopped, has measured already."""
        records, _ = read_folder(self.folder)
        return {key(r): r for r in records if r["run"] == self.run and r["status"] != "error"}  # what could not be asked may be by now

    def append(self, record: Record) -> None:
        """Write one record; when this returns it is on the disk.

        Raises:
            CannotKeep: the disk is full or the folder read-only; the run must stop, nothing measured is lost.
        """
        path = self.folder / f"{record['column']}.jsonl"
        with _kept(path):
            fd = self._files.get(record["column"])
            if fd is None:
                fd = self._files[record["column"]] = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
                size = os.fstat(fd).st_size
                if size and os.pread(fd, 1, size - 1) != b"\n":  # a kill in mid-line: keep its stump apart from our first line
                    os.write(fd, b"\n")
            data = _line(record).encode()
            written = os.write(fd, data)
            if written != len(data):
                raise OSError(28, "No space left on device")
            os.fdatasync(fd)

    def finish(self) -> None:
        with _kept(self.folder):
            self._write_state({**self._state(), "ended": _now()})
        self.close()

    def close(self) -> None:
        for fd in self._files.values():
            os.close(fd)
        self._files.clear()
        if self._lock:
            self._lock.release()

    def _tidy(self) -> None:
        """At the start of a new run: drop superseded answers and broken lines."""
        records, _ = read_folder(self.folder)
        write_folder(self.folder, records)

    def _state(self) -> dict[str, Any]:
        try:
            state = json.loads((self.folder / "run.json").read_text())
        except (OSError, ValueError):
            return {}
        return state if isinstance(state, dict) else {}

    def _write_state(self, state: dict[str, Any]) -> None:
        replace(self.folder / "run.json", json.dumps(state, indent=1) + "\n")


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
