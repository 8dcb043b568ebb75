"""Gathers what the page shows and writes it; publishing makes the latest records the committed baseline."""

from __future__ import annotations

import json
import platform
import time
from pathlib import Path
from typing import Any

from harness import cell, machine, pins, record, summary, verdict
from harness.bisect import answer as answers
from harness.errors import BadInput
from harness.matrix import all_cells
from harness.project import Project, platform_name, replace
from harness.record import Record
from harness.report import ledger, nights
from harness.report.render import render


def write(project: Project, *, publish: bool) -> Path:
    """Draw the latest records against the baseline; with ``publish`` they become the baseline and the page goes to results/matrix.html.

    Raises:
        BadInput: there are no records, or publishing would commit cells that could not be asked. Columns built from a checkout are not published.
    """
    records, broken = record.read_folder(project.latest)
    swept, more = record.read_folder(project.swept)
    records, broken = [*records, *swept], [*broken, *more]
    if not records:
        raise BadInput(f"no records in {project.latest}", "a run", "python3 noxfile.py, or inside .venv: python -m harness run")
    cells = all_cells(project, pins.read(project.pins))
    specs = list({c.spec.row: c.spec for c in cells}.values())
    local = [] if publish else [r for r in records if r["environment"]["local"]]
    read = len(records) + len(local)
    records = [*summary.current(cells, records), *local]
    stale = read - len(records)
    baseline, _ = record.read_folder(project.baseline)
    if publish:
        _publishable(records)
        # What this run did not ask stays as it was, as long as it answers today's question; columns that are no pins any more go.
        kept = {record.key(r): r for r in summary.current(cells, baseline)} | {record.key(r): r for r in records}
        record.write_folder(project.baseline, kept.values())
        for file in set(project.baseline.glob("*.jsonl")) - {project.baseline / f"{c.column.id}.jsonl" for c in cells}:
            file.unlink()
        records = list(kept.values())
        overhead = project.latest / "overhead.json"
        if overhead.exists():
            (project.baseline / "overhead.json").write_text(overhead.read_text())
        answers.publish(project)
        ledger.write(project.root / "results" / "findings.jsonl", ledger.findings(records, specs))
    outcomes, accused = summary.oracles(specs)
    facts = _facts(project, records, len(broken)) | {"stale": stale}
    facts["mutants"] = {
        "killed": sum(o.killed for o in outcomes),
        "total": len(outcomes),
        "explained": sum(bool(o.explained) for o in outcomes),
    }
    facts["twins_accused"] = len(accused)
    path = project.root / "results" / "matrix.html" if publish else project.latest / "matrix.html"
    runs = nights.read(project.results / "nightly")
    drawn = render(records, baseline, specs, root=project.root, title_facts=facts, change=verdict.change, runs=runs)
    replace(path, drawn)
    return path


def _publishable(records: list[Record]) -> None:
    # A cell that needs a GPU is published as one that this platform cannot ask; anything else that could not be asked is to be repaired first.
    wrong = [r for r in records if r["status"] == "error" and r["cause"] != "device"]
    if wrong:
        first = wrong[0]
        found = f"{len(wrong)} records cannot be published, first {record.address(first)}: {first['status']} {first['message']}"
        raise BadInput(found, "a run with every cell asked", "repair that, run again, then publish")


def _facts(project: Project, records: list[Record], broken: int) -> dict[str, Any]:
    state_file, overhead_file = project.latest / "run.json", project.latest / "overhead.json"
    state = json.loads(state_file.read_text()) if state_file.exists() else {}
    overhead = json.loads(overhead_file.read_text()) if overhead_file.exists() else None
    return {
        "run": state.get("run", records[-1]["run"]),
        "started": state.get("started") or min(r["at"] for r in records),
        "ended": state.get("ended") or max(r["at"] for r in records),
        "made": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "generator": f"records of schema {record.SCHEMA}, protocol {cell.PROTOCOL}; drawn with Python {platform.python_version()}",
        "platform": platform_name(),
        "cpu": machine.cpu_model(),
        "load": max(r["load"] for r in records),
        "harness_errors": sum(1 for r in records if r["cause"] == "harness"),
        "broken_lines": broken,
        "overhead": overhead,
        "command": "python3 noxfile.py",
    }
