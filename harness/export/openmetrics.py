"""OpenMetrics text: a state set of verdicts a square, gauges of what was measured; the format itself is prometheus_client's."""

from __future__ import annotations

import calendar
import math
import time
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from harness.export import clean
from harness.export.gather import Selection
from harness.report.table import number
from harness.verdict import EXECUTED, STATUSES

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

SQUARE = ("case", "item", "column", "framework", "version")
CELL = (*SQUARE, "variant", "dtype", "mode")
SPEEDS = {
    "backward_forward": "CPU seconds of the backward over those of the forward.",
    "reference_ratio": "CPU seconds of a step over those of torch's newest version in the same run.",
    "peak_share": "FLOP/s of a step over the best matrix product of the same run and type.",
}


class Families:
    """What prometheus_client asks a registry for."""

    def __init__(self, selection: Selection) -> None:
        self.selection = selection

    def collect(self) -> Iterable[Metric]:
        from prometheus_client.core import GaugeMetricFamily, StateSetMetricFamily

        selection = self.selection
        verdicts = StateSetMetricFamily("silentbench_verdict", "The worst status of a question in a column.", labels=SQUARE)
        for word, of in selection.squares:
            verdicts.add_metric([clean.text(of[0][k]) for k in SQUARE], {s: s == word for s in STATUSES})
        yield verdicts
        cpu = GaugeMetricFamily("silentbench_cell_cpu_seconds", "CPU time of a cell's process.", labels=CELL, unit="seconds")
        peak = GaugeMetricFamily("silentbench_cell_peak_bytes", "Resident memory of a cell's processes, polled.", labels=CELL, unit="bytes")
        worst = GaugeMetricFamily("silentbench_error_ratio", "The largest found / allowed of a cell's checks.", labels=CELL)
        speeds = {name: GaugeMetricFamily(f"silentbench_{name}", text, labels=CELL) for name, text in SPEEDS.items()}
        for found in selection.records:
            if found["status"] not in EXECUTED:
                continue
            labels = [clean.text(found[k]) for k in CELL]
            cpu.add_metric(labels, float(found["cpu_s"]))
            peak.add_metric(labels, float(found["peak_bytes"]))
            if found["checks"]:
                worst.add_metric(labels, max(number(c["ratio"]) for c in found["checks"]))
            line = selection.speed(found)
            for name, family in speeds.items() if line else ():
                value = float(getattr(line, name))
                if not math.isnan(value):
                    family.add_metric(labels, value)
        yield from (cpu, peak, worst, *speeds.values())
        yield from self._totals()

    def _totals(self) -> Iterable[Metric]:
        from prometheus_client.core import GaugeMetricFamily

        selection = self.selection
        cells = GaugeMetricFamily("silentbench_cells", "Cells by status.", labels=["status"])
        for status, count in selection.counts.items():
            cells.add_metric([status], count)
        changes = GaugeMetricFamily("silentbench_changes", "Cells by how they stand to their baseline.", labels=["change"])
        for change, count in Counter(selection.change(r) or "no baseline" for r in selection.records).items():
            changes.add_metric([change], count)
        newest = GaugeMetricFamily("silentbench_newest_record_timestamp_seconds", "When the newest record was measured.", unit="seconds")
        newest.add_metric([], seconds(max(str(r["at"]) for r in selection.records)))
        yield from (cells, changes, newest)


def write(selection: Selection) -> str:
    from prometheus_client import CollectorRegistry
    from prometheus_client.openmetrics.exposition import generate_latest

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Families(selection))
    written: bytes = generate_latest(registry)  # type: ignore[no-untyped-call]
    return written.decode()


def seconds(at: str) -> float:
    """A record's time in seconds since 1970."""
    return float(calendar.timegm(time.strptime(at, "%Y-%m-%dT%H:%M:%SZ")))
