"""The speed lane's numbers; careful to set a number only beside others of the same run, and to mark the speed of a wrong answer."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.record import row_of
from harness.report.table import ColumnHead, Record

REFERENCE = "torch"
RIGHT = ("ok", "slow", "differs")


@dataclass(frozen=True, kw_only=True)
class Line:
    square: str
    column: ColumnHead
    variant: str
    status: str
    forward_flops_s: float
    step_flops_s: float
    peak_share: float  # of the step
    backward_forward: float
    reference_ratio: float
    reference_spread: tuple[float, float]  # of its fastest and its slowest round: what the same build does by itself
    tokens_s: float
    memory_bytes: float
    rounds: int
    threads: int
    load: float

    @property
    def comparable(self) -> bool:
        return self.status in RIGHT


@dataclass(frozen=True, kw_only=True)
class Block:
    """Columns that were timed on the same question in the same run."""

    row: str
    dtype: str
    mode: str
    shape: str
    run: str
    peak_flops_s: float
    peak_column: str
    reference: str
    arithmetic: float  # floating-point operations of the backward by those of the forward: what their times would be in at one pace
    lines: tuple[Line, ...]


def blocks(records: Iterable[Record], columns: Mapping[str, ColumnHead]) -> list[Block]:
    timed = [r for r in records if r["speed"]]
    groups: dict[tuple[str, str, str, str], list[Record]] = {}
    for record in timed:
        groups.setdefault((row_of(record), str(record["dtype"]), str(record["mode"]), str(record["run"])), []).append(record)
    return [_block(members, timed, columns) for members in groups.values()]


def _block(members: Sequence[Record], timed: Sequence[Record], columns: Mapping[str, ColumnHead]) -> Block:
    run, dtype = str(members[0]["run"]), str(members[0]["dtype"])
    order = list(columns)
    members = sorted(members, key=lambda r: (order.index(str(r["column"])), r["variant"] or ""))
    # The machine's best product in this type, whichever framework reached it: each framework's own would flatter a slow one.
    gemms = [(_flops_s(r, "gemm"), str(r["column"])) for r in timed if r["run"] == run and r["dtype"] == dtype]
    peak, peak_column = max((g for g in gemms if not math.isnan(g[0])), default=(math.nan, ""))
    references = [r for r in members if r["framework"] == REFERENCE and not r["variant"] and r["status"] in RIGHT]
    reference = references[-1] if references else None  # the newest version: columns are in order
    return Block(
        row=row_of(members[0]),
        dtype=dtype,
        mode=str(members[0]["mode"]),
        shape=str(members[0]["speed"]["shape"]),
        run=run,
        peak_flops_s=peak,
        peak_column=peak_column,
        reference=str(reference["column"]) if reference else "",
        arithmetic=_arithmetic(members[0]),
        lines=tuple(_line(r, columns[str(r["column"])], peak, reference) for r in members),
    )


def _line(record: Record, column: ColumnHead, peak: float, reference: Record | None) -> Line:
    forward_s, step_s = median(record, "forward"), median(record, "step")
    step_flops_s, speed = _flops_s(record, "step"), record["speed"]
    return Line(
        square=f"/c/{row_of(record)}/{column.id}",
        column=column,
        variant=str(record["variant"] or ""),
        status=str(record["status"]),
        forward_flops_s=_flops_s(record, "forward"),
        step_flops_s=step_flops_s,
        peak_share=_divide(step_flops_s, peak),
        backward_forward=_divide(step_s - forward_s, forward_s),
        reference_ratio=_divide(step_s, median(reference, "step")) if reference else math.nan,
        reference_spread=_spread(record, reference),
        tokens_s=_divide(float(speed["tokens"] or math.nan), median(record, "step", "wall_s")),
        memory_bytes=float((speed.get("memory_bytes") or {}).get("step", math.nan)),
        rounds=len((speed["cpu_s"] or {}).get("step", ())),
        threads=int((record["environment"] or {}).get("threads") or 1),
        load=float(record["load"]),
    )


def _arithmetic(record: Record) -> float:
    flops = record["speed"].get("flops") or {}
    forward = float(flops.get("forward", math.nan))
    return _divide(float(flops.get("step", math.nan)) - forward, forward)


def _spread(record: Record, reference: Record | None) -> tuple[float, float]:
    rounds = (record["speed"]["cpu_s"] or {}).get("step") or [math.nan]
    base = median(reference, "step") if reference else math.nan
    return _divide(min(rounds), base), _divide(max(rounds), base)


def shares(found: Iterable[Block]) -> dict[tuple[str, str], float]:
    """(row, column) -> torch's step time by its own in the same run, of its default path where it is right: what a square's bar shows."""
    known: dict[tuple[str, str], float] = {}
    for block in found:
        for line in block.lines:
            if line.comparable and not line.variant and line.reference_ratio > 0:
                known.setdefault((block.row, line.column.id), 1 / line.reference_ratio)
    return known


def median(record: Record, function: str, clock: str = "cpu_s") -> float:
    rounds: Any = (record["speed"].get(clock) or {}).get(function) or [math.nan]
    return float(statistics.median(rounds))


def _flops_s(record: Record, function: str) -> float:
    return _divide(float((record["speed"].get("flops") or {}).get(function, math.nan)), median(record, function))


def _divide(a: float, b: float) -> float:
    return a / b if b > 0 else math.nan
