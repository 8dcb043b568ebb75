"""Documents out of text, JSONL or Parquet; careful that a line which cannot be read is refused by its number, never skipped.

A text file holds one document per block between blank lines; a JSONL line and a Parquet row hold one each, in the field named.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trainer.errors import refusal

SUFFIXES = (".txt", ".jsonl", ".parquet")


def read(path: Path, field: str = "text") -> Iterator[str]:
    if not path.is_file():
        raise refusal(f"no file {path}", f"a file that ends in {', '.join(SUFFIXES)}", "correct the path")
    if path.suffix == ".txt":
        return _blocks(path)
    if path.suffix == ".jsonl":
        return _lines(path, field)
    if path.suffix == ".parquet":
        return _rows(path, field)
    raise refusal(f"{path.name}", f"a file that ends in {', '.join(SUFFIXES)}", "convert it to one of them")


def source(path: Path) -> dict[str, object]:
    """Where a file's text is from and under which licence, as the ``.source.json`` beside it says; nothing where there is none."""
    beside = path.with_suffix(".source.json")
    if not beside.is_file():
        return {}
    try:
        stated = json.loads(beside.read_text(encoding="utf-8"))
    except ValueError as bad:
        raise refusal(f"{beside.name}: {bad}", "a JSON object with source and licence", "repair or remove it") from None
    if not isinstance(stated, dict):
        raise refusal(f"{beside.name}: {type(stated).__name__}", "a JSON object with source and licence", "repair or remove it")
    return stated


def digest(text: str) -> bytes:
    """What makes two documents the same document: SHA-256 of the exact text."""
    return hashlib.sha256(text.encode()).digest()


def is_held_out(text: str, permille: int) -> bool:
    """The held-out rule: a function of the text alone, so that a document is on the same side in every subset, order and run."""
    return int.from_bytes(digest(text)[:8], "big") % 1000 < permille


def held_out_rule(permille: int) -> str:
    return f"first 8 bytes, big-endian, of the SHA-256 of the document's UTF-8 text, modulo 1000, below {permille}"


def _decoded(path: Path) -> Iterator[tuple[int, str]]:
    if not path.is_file():
        raise refusal(f"no file {path}", f"a file that ends in {', '.join(SUFFIXES)}", "correct the path")
    with path.open("rb") as file:  # by line, so that a bad byte has a line number
        for number, raw in enumerate(file, 1):
            try:
                line = raw.decode()
            except UnicodeDecodeError as bad:
                raise refusal(f"{path.name}, line {number}: {bad}", "UTF-8", "convert the file to UTF-8, or repair that line") from None
            yield number, line.removeprefix("\ufeff") if number == 1 else line


def _blocks(path: Path) -> Iterator[str]:
    block: list[str] = []
    for _, line in _decoded(path):
        if line.strip():
            block.append(line)
        elif block:
            yield "".join(block).rstrip("\r\n")
            block = []
    if block:
        yield "".join(block).rstrip("\r\n")


def records(path: Path) -> Iterator[Any]:
    """The JSON values of a JSONL file."""
    for _, record in _records(path):
        yield record


def _records(path: Path) -> Iterator[tuple[str, Any]]:
    for number, line in _decoded(path):
        if not line.strip():
            continue
        where = f"{path.name}, line {number}"
        try:
            yield where, json.loads(line)
        except json.JSONDecodeError as bad:
            raise refusal(f"{where}: {bad}", "one JSON object a line", "repair or remove that line") from None


def _lines(path: Path, field: str) -> Iterator[str]:
    for where, record in _records(path):
        yield _text(record.get(field) if isinstance(record, dict) else None, where, field)


def _rows(path: Path, field: str) -> Iterator[str]:
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
    except (OSError, ValueError) as bad:  # pyarrow's ArrowInvalid is a ValueError
        raise refusal(f"{path.name}: {bad}", "a Parquet file", "write or copy it again") from None
    if field not in file.schema_arrow.names:
        raise refusal(
            f"{path.name} with columns {', '.join(file.schema_arrow.names)}", f"a column {field!r}", "name the text column with --field"
        )
    row = 0
    for batch in file.iter_batches(columns=[field]):
        for value in batch.column(0).to_pylist():
            yield _text(value, f"{path.name}, row {row}", field)
            row += 1


def _text(value: object, where: str, field: str) -> str:
    if not isinstance(value, str):
        raise refusal(f"{where}: {type(value).__name__} in {field!r}", "a string", "name the text field with --field, or repair the record")
    try:
        value.encode()
    except UnicodeEncodeError as bad:  # "\ud800" is valid JSON and no text
        raise refusal(f"{where}: {bad}", "text that UTF-8 can hold", "repair or remove that record") from None
    return value
