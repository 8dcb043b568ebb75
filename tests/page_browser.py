"""A page of synthetic records in a real Chromium, for the tests and the benchmark of the page."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
from pathlib import Path

import synthetic

from harness import sessions
from harness.project import ROOT
from harness.record import address
from harness.report import blindspot
from harness.report.render import render

CHROMIUM = sessions.chromium()
PATIENCE_MS = 1000 * int(os.environ.get("PAGE_PATIENCE_S", "60"))  # a busy machine is no failure
TRIGGER = '{"dtype": "float32", "tensors": {"x": {"shape": [2], "values": [0.5, 1.0]}}}'


def missing() -> str:
    """Why the page cannot be opened here; "" where it can."""
    for name in ("playwright", "axe_playwright_python"):
        if importlib.util.find_spec(name) is None:
            return f"no {name}: python3 noxfile.py -s tests-page has it"
    return "" if CHROMIUM else "no Chromium: Debian's is `apt install chromium`, another is named by the variable CHROMIUM"


@contextlib.contextmanager
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        # Root has no sandbox, and a container's /dev/shm is small.
        browser = play.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"], timeout=PATIENCE_MS
        )
        yield browser
        browser.close()


def swept(run):
    """What a sweep found of some of the rows: findings for the ledger, and rates."""
    found = []
    for record in run.records:
        if (
            record["item"].startswith("view_")
            and record["dtype"] == "float32"
            and record["framework"] == "candle"
            and record["mode"] == "eager"
        ):
            note = "y at [1]; float32; x [2]; x transposed; 24 of 60 examples"
            check = {"check": "value", "holds": False, "ratio": 2.5, "got": 1.5, "want": 1.0, "note": note, "trigger": TRIGGER}
            found.append({**record, "dtype": "all", "status": "silent", "message": f"value: {note}", "checks": [check]})
    return found


def add_repros(root: Path, records) -> None:
    """One square with a repro that ran, one whose repro was refused, and one whose repro is of an earlier answer."""
    asked = {address(r): r["asked"] for r in records}
    ran, refused, stale = (
        "rms_norm_backward@float32 candle-0.11.1",
        "rope_axis@float32 burn-0.21.0",
        "layout_mismatch:conv1d_weight@float32 candle-0.11.1",
    )
    plain = {"check": "present", "code": 1, "seconds": 0.015, "lines": 49, "warm": True, "reason": "", "output": "dx: WRONG\n"}
    home = root / "results" / "latest" / "repros"
    for slug, name, answer in (("rms", ran, asked[ran]), ("conv", stale, "0" * 16)):
        (home / slug / "src").mkdir(parents=True)
        cell, _, column = name.rpartition(" ")
        told = {**plain, "slug": slug, "cell": cell, "column": column, "asked": answer, "status": "reproduced"}
        (home / slug / "repro.json").write_text(json.dumps(told))
        (home / slug / "src" / "main.rs").write_text('fn main() {\n    println!("</script>");\n}\n')
        (home / slug / "src" / "compare.rs").write_text("pub fn off() {}\n")
        (home / slug / "Cargo.toml").write_text('[dependencies]\ncandle-core = "=0.11.1"\n')
        (home / slug / "Cargo.lock").write_text("not shown\n")
    cell, _, column = refused.rpartition(" ")
    why = {"status": "cannot", "reason": "dy has 2556 numbers; wanted: at most 2000", "executed": False, "valid": False, "slug": "rope"}
    line = {**plain, "cell": cell, "column": column, "asked": asked[refused], **why}
    (root / "results" / "repros.jsonl").write_text(json.dumps(line) + "\n")


def written(root: Path, *, cells: int = 900, change=lambda records: records, **options) -> Path:
    """The page of a synthetic run in ``root``; ``change`` may spoil its records first."""
    run = synthetic.make(root, cells=cells)
    add_repros(root, run.records)
    (root / "results" / "blindspot.json").write_text(blindspot.file(ROOT).read_text())
    records = change([*run.records, *swept(run)])
    html = render(records, run.baseline, run.specs, root=root, title_facts=run.facts, **options)
    path = root / "matrix.html"
    path.write_text(html, encoding="utf-8")
    return path


def ready(page, address: str) -> None:
    page.goto(address, timeout=PATIENCE_MS)
    page.wait_for_function("document.documentElement.dataset.ready === 'true'", timeout=PATIENCE_MS)
