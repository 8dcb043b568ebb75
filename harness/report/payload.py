"""What the page's script reads: an index of every square, and blobs that it opens on demand; careful that each thing is carried once.

The index is small and opened at once: a filter asks it of every square. A row's records, its case's run files and the ledger are blobs of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.bisect import answer as answers
from harness.bisect.answer import Answer
from harness.case import Tol
from harness.report import history
from harness.report.evidence import CaseView, Row, Square
from harness.report.ledger import Finding
from harness.report.packed import blob, tidy
from harness.report.ran import Ran
from harness.report.repros import Repros
from harness.report.table import ColumnHead
from harness.repro import one
from harness.verdict import BAD, EXECUTED, STATUSES

NO_REPROS = Repros({})
CHUNK = 600  # records of a blob: about half a megabyte to parse when one of its squares is opened


@dataclass
class Interned:
    """Values by their place: what many squares share is written once."""

    values: list[Any] = field(default_factory=list)
    _places: dict[Any, int] = field(default_factory=dict)

    def place(self, value: Any) -> int:
        if value not in self._places:
            self._places[value] = len(self.values)
            self.values.append(value)
        return self._places[value]


@dataclass(frozen=True, kw_only=True)
class Payload:
    """``index`` in JSON's types; ``blobs``: name -> gzip in base64."""

    index: dict[str, Any]
    blobs: dict[str, str]


def payload(
    cases: Sequence[CaseView],
    columns: Sequence[ColumnHead],
    ran: Ran,
    ledger: Sequence[Finding],
    more: Mapping[str, Any],
    repros: Repros = NO_REPROS,
    searches: Sequence[Answer] = (),
) -> Payload:
    """``more``: further keys of the index. A blob ``repros-…`` stands beside the blob ``records-…`` of the same rows, where any has one."""
    kinds, types = Interned(), Interned()
    place = {head.id: i for i, head in enumerate(columns)}
    rows: list[list[Any]] = []
    squares: list[list[int]] = []
    rates: list[list[int]] = []
    blobs: dict[str, str] = {}
    shown: list[list[int]] = []  # squares with a repro that ran: row, column
    for at, case in enumerate(cases):
        blobs[f"case-{at}"] = blob({"files": _files(case, ran), "rows": {r.id: _asked(r, searches) for r in case.rows}})
        for number, chunk in enumerate(_chunks(case.rows)):
            name = f"records-{at}-{number}"
            blobs[name] = blob({r.id: {c: _records(s, ran) for c, s in r.squares.items()} for r in chunk})
            made = {r.id: own for r in chunk if (own := _made(r, repros))}
            if made:
                blobs[f"repros-{at}-{number}"] = blob(made)
            for row in chunk:
                flat = []
                shown += [[len(rows), place[c]] for c, own in made.get(row.id, {}).items() if any("files" in m for m in own.values())]
                for column, square in row.squares.items():
                    flat += [place[column], types.place(_type(square, kinds))]
                    if square.rate:
                        rates.append([len(rows), place[column], *square.rate])
                rows.append([row.id, row.item, row.claim if row.claim != case.claim else "", at, int(row.swept), name])
                squares.append(flat)
    if ledger:
        blobs["ledger"] = blob([tidy(_plain(f)) for f in ledger])
    index = {
        "statuses": dict(STATUSES),
        "bad": BAD,
        "executed": EXECUTED,
        "columns": [{k: getattr(h, k) for k in ("id", "framework", "version", "label", "newest", "pre")} for h in columns],
        "cases": [[c.id, c.failure, c.claim, c.guards, c.source] for c in cases],
        "rows": rows,
        "kinds": kinds.values,
        "types": types.values,
        "squares": squares,
        "rates": rates,
        "repros": shown,
        "reproducible": one.SHOWN,
        "environments": ran.environments,
        **more,
    }
    blobs["index"] = blob(index)
    return Payload(index=index, blobs=blobs)


def _type(square: Square, kinds: Interned) -> tuple[Any, ...]:
    cells = (
        (r["variant"] or "", r["dtype"], r["mode"], r["status"], c if c != "same" else "")
        for r, c in zip(square.records, square.changes, strict=True)
    )
    return square.status, square.change, " · ".join(square.fold), tuple(kinds.place(cell) for cell in cells)


def _chunks(rows: Sequence[Row]) -> Iterator[list[Row]]:
    chunk: list[Row] = []
    size = 0
    for row in rows:
        own = sum(len(s.records) for s in row.squares.values())
        if chunk and size + own > CHUNK:
            yield chunk
            chunk, size = [], 0
        chunk.append(row)
        size += own
    yield chunk


def _records(square: Square, ran: Ran) -> list[dict[str, Any]]:
    """The records as they are, the environment as its place in the index."""
    return [tidy({**r, "environment": ran.environment(r)}) for r in square.records]


def _made(row: Row, repros: Repros) -> dict[str, dict[int, dict[str, Any]]]:
    """Column -> place of a record in its square -> what was made of it."""
    found: dict[str, dict[int, dict[str, Any]]] = {}
    for column, square in row.squares.items():
        own = {i: made for i, r in enumerate(square.records) if (made := repros.of(r))}
        if own:
            found[column] = own
    return found


def _files(case: CaseView, ran: Ran) -> dict[str, Any]:
    asked = {(str(r["file"]), str(r["file_sha256"])) for row in case.rows for s in row.squares.values() for r in s.records if r["file"]}
    return {f"{path}@{sha256}": ran.file(path, sha256) for path, sha256 in sorted(asked)}


def _asked(row: Row, searches: Sequence[Answer] = ()) -> dict[str, Any]:
    """What the case says of the row: tolerances with their derivations, documented choices, absences, trackers; and its history over versions."""
    found: dict[str, Any] = {"strips": [[s.name, [q.column.id for q in s.squares], s.says] for s in history.strips(row)]}
    found["bisect"] = [_searched(each) for each in searches if re.split("[/@+]", each["cell"])[0] == row.id]
    spec = row.spec
    if spec is None:
        return found
    if spec.op is None:
        own = [tol for check in spec.checks if check.tol for tol in _allowed(check.output, check.tol)]
        found["allowed"] = [*_allowed("every other output" if own else "every output", spec.tol), *own]
    else:
        found["derived"] = f"{spec.op.roundings} roundings in series; each example has its own bound (harness/sweep/reference.py)"
        found["documented"] = {f: [link, why] for f, (link, why, _) in spec.op.documented.items()}
    found["explained"] = dict(spec.explained)
    found.setdefault("documented", {f: [d.link, d.why] for f, d in spec.documented.items()})
    found["absent"] = {f: [a.why, list(a.names)] for f, a in spec.absent.items()}
    found["tracker"] = {f: note for f, note in spec.case.tracker.items() if " " not in f or f.endswith(f" {spec.item}")}
    return {k: v for k, v in found.items() if v}


def _searched(answer: Answer) -> str:
    """What a search over releases said, in a line."""
    name = " ".join(filter(None, (answer["framework"], answer["backend"])))
    over = f"{name} {answer['from']} to {answer['to']}, {answer['cell']}: asked {len(answer['versions'])} releases on {answer['at'][:10]}"
    said: str = tidy(f"{over}: {'; '.join(answers.lines(answer)[:-1])}.")
    return said


def _allowed(output: str, tol: Mapping[str, Tol]) -> list[list[Any]]:
    return [[output, dtype, t.rtol, t.atol, t.why] for dtype, t in tol.items()]


def _plain(finding: Finding) -> dict[str, Any]:
    keys = (
        "item",
        "framework",
        "first_bad",
        "last_good",
        "fixed",
        "repeats",
        "compiled",
        "column",
        "kind",
        "got",
        "want",
        "example",
        "tracker",
        "command",
    )
    return {k: getattr(finding, k) for k in keys}


def reasons(records: Iterable[Mapping[str, Any]]) -> list[tuple[str, str, int]]:
    """Why cells were not asked: (cause, message, how many), the commonest first."""
    counted: dict[tuple[str, str], int] = {}
    for record in records:
        if record["status"] == "error":
            why = (str(record["cause"] or "unknown"), str(record["message"]))
            counted[why] = counted.get(why, 0) + 1
    return [(*why, n) for why, n in sorted(counted.items(), key=lambda pair: -pair[1])]
