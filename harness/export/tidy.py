"""CSV: one row a cell and metric; careful that a cell which was not asked has a row too, and that no field begins a spreadsheet's formula."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass

from harness.export import clean
from harness.export.gather import Selection, rate
from harness.record import Record
from harness.report.table import number
from harness.report.throughput import Line
from harness.verdict import EXECUTED

CELL = ("case", "item", "variant", "dtype", "mode", "column", "framework", "version")
COLUMNS = (*CELL, "failure", "status", "cause", "change", "metric", "check", "value", "unit", "run", "at", "asked")
FORMULA = ("=", "+", "-", "@", "\t")  # what a spreadsheet would evaluate
UNITS = {
    "fail_rate": "1",
    "error_ratio": "1",  # found error / allowed error, or found / limit
    "run_s": "s",
    "cpu_s": "s",
    "peak_bytes": "B",
    "load": "1",
    "forward_flops_s": "1/s",
    "step_flops_s": "1/s",
    "peak_share": "1",
    "backward_forward": "1",
    "reference_ratio": "1",
    "tokens_s": "1/s",
    "memory_bytes": "B",
}
SPEEDS = ("forward_flops_s", "step_flops_s", "peak_share", "backward_forward", "reference_ratio", "tokens_s", "memory_bytes")


@dataclass(frozen=True)
class Measured:
    """One number of a cell. ``check`` names the check that a ratio is of; ``value`` is None where nothing was asked."""

    metric: str
    check: str
    value: float | None


def write(selection: Selection) -> str:
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(COLUMNS)
    for found in selection.records:
        cell = [_field(found[k]) for k in CELL]
        said = [selection.failure(found), found["status"], found["cause"] or "", selection.change(found)]
        whence = [_field(found[k]) for k in ("run", "at", "asked")]
        for m in measured(found, selection.speed(found)):
            value = "" if m.value is None else repr(m.value)
            rows.writerow([*cell, *said, m.metric, _field(m.check), value, UNITS[m.metric], *whence])
    return out.getvalue()


def measured(found: Record, speed: Line | None) -> Iterator[Measured]:
    """Every number of a record; of a cell that was not asked only that there is none."""
    yield Measured("fail_rate", "", rate(found))
    if found["status"] not in EXECUTED:
        return
    for check in found["checks"]:
        yield Measured("error_ratio", str(check["check"]), number(check["ratio"]))
    for metric in ("run_s", "cpu_s", "peak_bytes", "load"):
        yield Measured(metric, "", float(found[metric]))
    for metric in SPEEDS if speed else ():
        value = getattr(speed, metric)
        if not math.isnan(value):
            yield Measured(metric, "", float(value))


def _field(value: object) -> str:
    written = clean.line(value)
    return f"'{written}" if written.startswith(FORMULA) else written
