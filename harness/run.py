"""`python -m harness run`: pytest over the cells, our last lines, one exit status of the table in errors.py."""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path

import pytest

from harness import machine, plugin, record
from harness.errors import Exit, Failed
from harness.matrix import Matrix
from harness.project import ROOT, Project


def run(
    project: Project,
    *,
    columns: list[str],
    keyword: str,
    fresh: bool,
    local: list[str],
    junit: Path | None,
    sweep: bool = False,
    budget_s: float = 0.0,
) -> Exit:
    """Ask the chosen cells, or with ``sweep`` the chosen operations, and keep their records; the page is made by `report`."""
    arguments = [
        str(ROOT / "cases" / "test_cells.py"),
        f"--rootdir={ROOT}",
        "-qq",
        "--no-header",
        "--no-summary",
        "--tb=no",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:hypothesispytest",  # it imports hypothesis, a second of CPU
        "--assert=plain",
        "-s",  # what we say while cells are asked is for the reader, not for a test's report
        "-p",
        "no:xdist",
    ]
    arguments += ["-o", "console_output_style=classic", "-o", "addopts=", "--benchmark-quiet", "--project", str(project.root)]
    arguments += [f"--columns={c}" for c in columns] + [f"--local-columns={text}" for text in local]
    arguments += ["-k", keyword] if keyword else []
    arguments += ["--fresh"] if fresh else []
    arguments += ["--sweep", f"--budget={budget_s}"] if sweep else []
    catch = _Catch()
    code = pytest.main(arguments, plugins=[catch])
    matrix = catch.matrix
    if matrix is None:
        if catch.failed:
            print(catch.failed, file=sys.stderr)
            return Exit(catch.failed.exit)
        if code == pytest.ExitCode.NO_TESTS_COLLECTED and not catch.broken:
            found = f"no cell matches -k {keyword!r}" if keyword else "no cells"
            print(f"found:   {found}\nwanted:  part of a cell's name\ndo this: python -m harness list", file=sys.stderr)
            return Exit.USAGE
        return Exit.USAGE if code == pytest.ExitCode.USAGE_ERROR else Exit.OURS
    for line in matrix.tally.lines():
        print(line)
    if junit:
        _junit(junit, matrix, project)
    overhead = matrix.overhead()
    each, asked = 1000 * overhead["per_cell_cpu_s"], overhead["cells"]
    print(f"overhead {each:.0f} ms of CPU a cell over {asked:.0f} cells; load {machine.load()} on {os.cpu_count()} cores")
    print(f"records in {matrix.store.folder}")
    if matrix.left:
        print(f"{matrix.left} operations are left for later: the same command goes on")
    if catch.failed:
        print(catch.failed, file=sys.stderr)
        return Exit(catch.failed.exit)
    if code == pytest.ExitCode.INTERRUPTED:
        print("interrupted: the same command goes on where it stopped", file=sys.stderr)
        return Exit.INTERRUPTED
    if catch.broken or code == pytest.ExitCode.INTERNAL_ERROR:
        return Exit.OURS
    if not sweep and not keyword and columns in ([], ["quick"]):  # of a whole run only: of a few cells it is mostly the start
        (project.latest / "overhead.json").write_text(json.dumps(overhead) + "\n")
    return matrix.tally.exit()


def _junit(path: Path, matrix: Matrix, project: Project) -> None:
    """What was asked, with the export's own code; a failure that the baseline knows passes, as in the exit status."""
    from harness.export import junit, write

    how = {id(answer): change for change, answers in matrix.tally.changes.items() for answer in answers}
    told = [answer for answers in matrix.tally.changes.values() for answer in answers]
    told.sort(key=record.key)
    write.put(junit.document(told, lambda r: how[id(r)], lambda r: how[id(r)] == "new", project.root), path)


class _Catch:
    """Keeps what pytest would only print: the matrix, and an error of ours that ends the run."""

    def __init__(self) -> None:
        self.matrix: Matrix | None = None
        self.failed: Failed | None = None
        self.broken = False

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.matrix = session.config.stash.get(plugin.MATRIX, None)

    def pytest_exception_interact(self, call: pytest.CallInfo[object], report: pytest.TestReport) -> None:
        error = call.excinfo.value if call.excinfo else None
        if isinstance(error, Failed):
            # A record that cannot be kept ends the run: measuring on would only lose more.
            self.failed = error
            pytest.exit("stopped", returncode=int(error.exit))
        elif call.excinfo and not isinstance(error, pytest.fail.Exception | pytest.skip.Exception):
            # A bug of the harness is one too many: stop with its traceback, keep what was measured.
            self.broken = True
            sys.stderr.write("".join(traceback.format_exception(error)[-12:]))
            pytest.exit(f"internal error in {report.nodeid}", returncode=int(Exit.OURS))
