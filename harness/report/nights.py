"""Earlier runs, where some are kept: how a square and its speed went from run to run; careful that a ratio is of one run, and a gap stays a gap.

A run is a folder of record files under results/nightly/, named so that the names sort by time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import record
from harness.record import row_of
from harness.report import throughput
from harness.report.table import ColumnHead, Record, worst

KEPT = 30  # points of a sparkline
Name = tuple[str, str, str, str]  # row, column, variant, dtype


@dataclass(frozen=True, kw_only=True)
class Nights:
    """``runs``: names, oldest first, the page's own last. ``compared``: the same after the baseline. ``statuses``: row/column -> the status in each of
    these, "" where it was not asked; only where they differ. ``ratios``: of ``runs``, step time by torch's in the same run, NaN where it has none.
    """

    runs: tuple[str, ...]
    compared: tuple[str, ...]
    statuses: Mapping[str, Sequence[str]]
    ratios: Mapping[Name, Sequence[float]]


def read(folder: Path) -> list[tuple[str, list[Record]]]:
    """The kept runs, oldest first; a line that is no record is left out as in any other folder."""
    runs = [(place.name, record.read_folder(place)[0]) for place in sorted(folder.glob("*")) if place.is_dir()]
    return [(name, list[Record](found)) for name, found in runs if found][-KEPT + 1 :]


def view(
    runs: Sequence[tuple[str, Sequence[Record]]], now: Sequence[Record], columns: Mapping[str, ColumnHead], baseline: Sequence[Record] = ()
) -> Nights:
    own = [*runs, ("now", now)] if runs else []
    every = [*([("baseline", baseline)] if baseline else []), *(own or [("now", now)])]
    return Nights(
        runs=tuple(name for name, _ in own),
        compared=tuple(name for name, _ in every) if len(every) > 1 else (),
        statuses=_statuses(every, columns),
        ratios=_ratios(own, columns),
    )


def _statuses(every: Sequence[tuple[str, Sequence[Record]]], columns: Mapping[str, ColumnHead]) -> dict[str, list[str]]:
    statuses: dict[str, list[str]] = {}
    for at, (_, records) in enumerate(every):
        cells: dict[str, list[str]] = {}
        for r in records:
            if str(r["column"]) in columns:
                cells.setdefault(f"{row_of(r)}/{r['column']}", []).append(str(r["status"]))
        for name, found in cells.items():
            statuses.setdefault(name, [""] * len(every))[at] = worst(found)
    return {name: found for name, found in statuses.items() if len({s for s in found if s}) > 1}


def _ratios(every: Sequence[tuple[str, Sequence[Record]]], columns: Mapping[str, ColumnHead]) -> dict[Name, list[float]]:
    ratios: dict[Name, list[float]] = {}
    for at, (_, records) in enumerate(every):
        known = [r for r in records if str(r["column"]) in columns]
        for block in throughput.blocks(known, columns):
            for line in block.lines:
                name_ = (block.row, line.column.id, line.variant, block.dtype)
                ratios.setdefault(name_, [math.nan] * len(every))[at] = line.reference_ratio if line.comparable else math.nan
    return ratios


def plain(nights: Nights) -> dict[str, Any]:
    return {"runs": nights.compared, "statuses": nights.statuses}
