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
    """``runs``: names, oldest first, the page's own last. ``statuses``: row/column -> the status of each run, "" where it was not asked; only where it
    ever changed. ``ratios``: step time by torch's in the same run, NaN where it has none.
    """

    runs: tuple[str, ...]
    statuses: Mapping[str, Sequence[str]]
    ratios: Mapping[Name, Sequence[float]]


def read(folder: Path) -> list[tuple[str, list[Record]]]:
    """The kept runs, oldest first; a line that is no record is left out as in any other folder."""
    runs = [(place.name, record.read_folder(place)[0]) for place in sorted(folder.glob("*")) if place.is_dir()]
    return [(name, list[Record](found)) for name, found in runs if found][-KEPT + 1 :]


def view(runs: Sequence[tuple[str, Sequence[Record]]], now: Sequence[Record], columns: Mapping[str, ColumnHead]) -> Nights:
    if not runs:
        return Nights(runs=(), statuses={}, ratios={})
    every = [*runs, ("now", now)]
    statuses: dict[str, list[str]] = {}
    ratios: dict[Name, list[float]] = {}
    for at, (_, records) in enumerate(every):
        known = [r for r in records if str(r["column"]) in columns]
        cells: dict[str, list[str]] = {}
        for r in known:
            cells.setdefault(f"{row_of(r)}/{r['column']}", []).append(str(r["status"]))
        for name, found in cells.items():
            statuses.setdefault(name, [""] * len(every))[at] = worst(found)
        for block in throughput.blocks(known, columns):
            for line in block.lines:
                name_ = (block.row, line.column.id, line.variant, block.dtype)
                ratios.setdefault(name_, [math.nan] * len(every))[at] = line.reference_ratio if line.comparable else math.nan
    varied = {name: found for name, found in statuses.items() if len({s for s in found if s}) > 1}
    return Nights(runs=tuple(name for name, _ in every), statuses=varied, ratios=ratios)


def plain(nights: Nights) -> dict[str, Any]:
    return {"runs": nights.runs, "statuses": nights.statuses}
