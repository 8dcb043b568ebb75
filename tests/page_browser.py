"""A page of synthetic records in a real Chromium, for the tests and the benchmark of the page."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
from pathlib import Path

import synthetic

from harness.report.render import render

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
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


def written(root: Path, *, cells: int = 900, change=lambda records: records, **options) -> Path:
    """The page of a synthetic run in ``root``; ``change`` may spoil its records first."""
    run = synthetic.make(root, cells=cells)
    records = change([*run.records, *swept(run)])
    html = render(records, run.baseline, run.specs, root=root, title_facts=run.facts, **options)
    path = root / "matrix.html"
    path.write_text(html, encoding="utf-8")
    return path


def ready(page, address: str) -> None:
    page.goto(address, timeout=PATIENCE_MS)
    page.wait_for_function("document.documentElement.dataset.ready === 'true'", timeout=PATIENCE_MS)
