"""Records as tables: one row a record, one row a square; careful that the worst status wins and that an unknown one is refused."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from harness.errors import BadInput
from harness.pins import is_pre, release_key
from harness.record import row_of
from harness.verdict import EXECUTED, STATUSES

Record = Mapping[str, Any]

WORST_FIRST = pd.CategoricalDtype(list(STATUSES), ordered=True)  # so that the minimum is the worst
CELL = ("case", "item", "variant", "dtype", "mode", "column")
KEPT = (
    "run",
    *CELL,
    "framework",
    "version",
    "status",
    "cause",
    "message",
    "asked",
    "run_s",
    "cpu_s",
    "peak_bytes",
    "at",
    "load",
    "file",
    "function",
)
DERIVED = ("row", "checks", "failed", "worst_ratio")


def key(record: Record) -> tuple[str, ...]:
    """What makes two records answers to the same cell."""
    return tuple(str(record[k] or "") for k in CELL)


def frame(records: Sequence[Record]) -> pd.DataFrame:
    """One row a record: the index is its place in ``records``, where the nested parts (checks, speed, environment, log) stay.

    Raises:
        BadInput: a record of another schema, or with a status that is not in the closed list.
    """
    for record in records:
        if record.get("schema") != 1 or record.get("status") not in STATUSES:
            found = (
                f"schema {record.get('schema')}, status {record.get('status')!r} in a record of {record.get('case')} {record.get('column')}"
            )
            raise BadInput(
                found, f"schema 1 and one of {', '.join(STATUSES)}", "ask the cell again with this version, or remove the record"
            )
    rows = [{**{k: record.get(k) for k in KEPT}, "row": row_of(record), **_checked(record)} for record in records]
    return pd.DataFrame(rows, columns=[*KEPT, *DERIVED]).astype({"status": WORST_FIRST})


def _checked(record: Record) -> dict[str, Any]:
    ratios = [number(c["ratio"]) for c in record["checks"]]
    return {"checks": len(ratios), "failed": sum(not c["holds"] for c in record["checks"]), "worst_ratio": max(ratios, default=math.nan)}


def number(value: Any) -> float:
    """A check's ratio. JSON spells infinity and NaN as words; a ratio that is no number never passes for a small one."""
    try:
        ratio = float(value)
    except (TypeError, ValueError):
        return math.inf
    return math.inf if math.isnan(ratio) else ratio


def latest(table: pd.DataFrame) -> pd.DataFrame:
    """The last record of each cell: a resumed or repeated run leaves several."""
    return table.sort_values("at", kind="stable").drop_duplicates(list(CELL), keep="last").sort_index()


def squares(table: pd.DataFrame) -> pd.DataFrame:
    """One row a square (row, column), which folds dtypes, modes and variants: the worst status, the number of cells, a count by status."""
    keys = ["case", "item", "row", "column", "framework", "version"]
    by = [table[k] for k in keys]
    status = table["status"].groupby(by, sort=False).min()
    cells = table["status"].groupby(by, sort=False).size().rename("cells")
    counts = pd.get_dummies(table["status"], dtype=int).groupby(by, sort=False).sum()
    return pd.concat([status, cells, counts], axis=1).reset_index()


def summary(table: pd.DataFrame) -> dict[str, int]:
    """How many rows of a frame or of its squares have each status, worst first, zeros included."""
    counts = table["status"].value_counts()
    return {status: int(counts.get(status, 0)) for status in STATUSES}


def executed(counts: Mapping[str, int]) -> int:
    """How many were asked and answered."""
    return sum(counts[s] for s in EXECUTED)


@dataclass(frozen=True, kw_only=True)
class ColumnHead:
    id: str
    framework: str
    version: str
    label: str  # the id without its framework: the version, backend and device
    newest: bool  # the newest stable version of its framework in this table
    pre: bool


def columns(table: pd.DataFrame, frameworks: Sequence[str] = ()) -> list[ColumnHead]:
    """The columns of a table: frameworks in the given order (unknown ones after, by name), versions oldest first."""
    found = table[["column", "framework", "version"]].drop_duplicates("column").itertuples(index=False)
    known = [(str(c), str(f), str(v)) for c, f, v in found]
    order = {name: place for place, name in enumerate(frameworks)}
    known.sort(key=lambda c: (order.get(c[1], len(order)), c[1], release_key(c[2]), c[0]))
    newest = {framework: version for _, framework, version in known if not is_pre(version)}  # sorted: the last one stays
    return [
        ColumnHead(
            id=c,
            framework=f,
            version=v,
            label=c.removeprefix(f"{f}-") or c,
            newest=newest.get(f) == v and not c.endswith("-local"),
            pre=is_pre(v),
        )
        for c, f, v in known
    ]


def worst(statuses: Iterable[str]) -> str:
    return min(statuses, key=list(STATUSES).index)


def fold(cells: Sequence[Record]) -> list[str]:
    """How the parts of a square fared where its one word does not say it: ``in bfloat16``, ``composed ok``."""
    word = worst(c["status"] for c in cells)
    if word == "ok" and all(c["status"] == word for c in cells):
        return []
    variants = sorted({str(c["variant"] or "") for c in cells})
    parts = []
    for variant in variants:
        mine = [c for c in cells if (c["variant"] or "") == variant]
        status = worst(c["status"] for c in mine)
        where = _where(mine, status)
        rest = [c["status"] for c in mine if c["status"] != status]
        if status == word == "ok" and not variant and rest:  # the exception says more than the rule
            parts.append(f"{worst(rest)} {_where(mine, worst(rest))}")
            continue
        said = "" if not variant and status == word else f"{variant or 'default'} {status}"
        parts.append(" ".join(filter(None, (said, where))))
    return [p for p in parts if p]


def _where(cells: Sequence[Record], status: str) -> str:
    """The dtypes or the mode that have this status; empty where all have it."""
    asked = [(str(c["dtype"]), str(c["mode"])) for c in cells]
    hit = [(str(c["dtype"]), str(c["mode"])) for c in cells if c["status"] == status]
    if len(hit) == len(asked):
        return ""
    modes, dtypes = {m for _, m in hit}, list(dict.fromkeys(d for d, _ in hit))
    if len(modes) == 1 and len(hit) == sum(m in modes for _, m in asked):
        return f"when {modes.pop()}"
    if len(hit) == sum(d in dtypes for d, _ in asked):
        return f"in {', '.join(dtypes)}" if len(dtypes) <= 2 else f"in {len(dtypes)} types"
    return f"in {hit[0][0]} {hit[0][1]}" if len(hit) == 1 else f"in {len(hit)} of {len(asked)}"
