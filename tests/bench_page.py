"""What the page costs: size, CPU of drawing it, and the times of a real Chromium, for 5,000 and 20,000 squares: python -m tests.bench_page [SQUARES ...].

Times are of one visit each, taken in the page: `table` until the whole table has been laid out and a frame was painted, `alive` until the keyboard
and the filters work, a `filter` from its input until the frame after it, which has the rows on the screen, and `all its rows` until the last of them is
drawn: the slowest of the queries, each the median of five. The bars are those of 5,000 squares.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # started as a module: the tests import their neighbours by name
import page_browser
import synthetic

from harness.report.evidence import Evidence
from harness.report.render import render
from harness.report.table import columns, frame

CELLS_A_SQUARE = 2.375  # of synthetic.py's sweep
QUERIES = (
    "status:silent",
    "fw:candle is:bad",
    "view_7",
    "dtype:bf16",
    "is:changed",
    "case:layout* fw:jax status:ok",
    "class:layout -status:ok",
)
BARS = {"MB": 3.0, "render": 5.0, "table": 1.0, "filter": 0.1}
TABLE = """
addEventListener('DOMContentLoaded', () => {
  document.getElementById('grid').getBoundingClientRect();
  requestAnimationFrame(() => setTimeout(() => { window.tableAt = performance.now() }));
});
"""
FILTER = """async (query) => {
  const find = document.getElementById('find'), times = [];
  find.focus();
  for (let turn = 0; turn < 5; turn++) {
    for (const q of ['', query]) {
      find.value = q;
      const start = performance.now();
      find.dispatchEvent(new Event('input', { bubbles: true }));
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      const first = performance.now() - start;
      while (document.querySelector('#grid .later')) await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      if (q) times.push([first / 1000, (performance.now() - start) / 1000]);
    }
  }
  return times.sort((a, b) => a[0] - b[0])[2];
}"""


def measured(squares: int, folder: Path) -> dict[str, float]:
    run = synthetic.make(folder, cells=int(squares * CELLS_A_SQUARE))
    heads = {h.id: h for h in columns(frame(run.records))}
    drawn = sum(len(r.squares) for c in Evidence(specs={}, change=lambda _: "", columns=heads).cases(run.records) for r in c.rows)
    start = time.process_time()
    html = render(run.records, run.baseline, run.specs, root=folder, title_facts=run.facts)
    found: dict[str, float] = {
        "squares": drawn,
        "records": len(run.records),
        "render": time.process_time() - start,
        "MB": len(html.encode()) / 1e6,
    }
    path = folder / "matrix.html"
    path.write_text(html, encoding="utf-8")
    if page_browser.missing():
        print(page_browser.missing())
        return found
    with page_browser.chromium() as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(page_browser.PATIENCE_MS)
        page.add_init_script(TABLE)
        page_browser.ready(page, path.as_uri())
        found["alive"] = page.evaluate("() => performance.now()") / 1000
        page.wait_for_function("() => window.tableAt")
        first = page.evaluate("() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN")
        found |= {"first paint": first / 1000, "table": page.evaluate("() => window.tableAt") / 1000}
        each = {query: page.evaluate(FILTER, query) for query in QUERIES}
        first, whole = zip(*each.values(), strict=True)
        found |= {"filter": max(first), "median filter": statistics.median(first), "all its rows": max(whole)}
    return found


def main() -> None:
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for squares in [int(n) for n in sys.argv[1:]] or [5_000, 20_000]:
        with tempfile.TemporaryDirectory() as folder:
            found = measured(squares, Path(folder))
        print(f"{int(found.pop('squares')):,} squares of {int(found.pop('records')):,} records")
        for name, value in found.items():
            bar = f"   bar {BARS[name]:g}: {'held' if value <= BARS[name] else 'MISSED'}" if name in BARS and squares == 5_000 else ""
            print(f"  {name:14} {value:8.3f} {'MB' if name == 'MB' else 's of CPU' if name == 'render' else 's'}{bar}")


if __name__ == "__main__":
    main()
