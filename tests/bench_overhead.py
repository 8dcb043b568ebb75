"""Prints what a cell costs beside its framework: 100 trivial cells of one warm column. Run: python -m tests.bench_overhead [COLUMN]; asserts nothing."""

import resource
import statistics
import sys
import time

from harness import pins
from harness.ask import Asker
from harness.matrix import all_cells
from harness.project import Project

CELLS = 100


def cpu_s():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def main(column_id="torch-2.15.0"):
    project = Project()
    column = pins.select(pins.read(project.pins), [column_id])[0]
    cell = next(c for c in all_cells(project, [column]) if c.address == "rms_norm_backward@float32")
    start = cpu_s()
    walls = []
    with Asker(project, run="bench") as asker:
        for _ in range(CELLS):
            began = time.perf_counter()
            answer = asker.ask(cell)
            walls.append(time.perf_counter() - began)
            if answer["status"] in ("error", "crash", "hang"):
                sys.exit(f"{answer['status']}: {answer['message']}")
        framework = asker.framework_cpu_s
        workers = list(asker.ever)
    total, imports = cpu_s() - start, sum(w.import_cpu_s for w in workers)
    own = total - framework - imports
    print(f"{column_id}: {CELLS} cells, {total:.2f} s of CPU in all: {imports:.2f} import, {framework:.2f} framework, {own:.2f} ours")
    print(f"ours {1000 * own / CELLS:.1f} ms of CPU a cell; wall median {1000 * statistics.median(walls):.0f} ms a cell")


if __name__ == "__main__":
    main(*sys.argv[1:])
