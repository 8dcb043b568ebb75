"""pytest as the runner of the cells: a cell is a test, its baseline the expectation; careful that a known failure passes and a new one does not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import pins, record, verdict
from harness.errors import Failed
from harness.matrix import Matrix, all_cells
from harness.project import ROOT, Project
from harness.record import Record

CHOSEN = pytest.StashKey[dict[str, Any]]()
MATRIX = pytest.StashKey[Matrix]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("silentbench")
    group.addoption("--columns", action="append", default=[], help="columns to ask: ids, shell patterns or tags (default: all)")
    group.addoption("--project", default=str(ROOT), help="a folder with cases/ and harness/pins.toml")
    group.addoption("--fresh", action="store_true", help="ask every cell again, also where an unfinished run could be gone on with")
    group.addoption("--sweep", action="store_true", help="ask the sweep's operations, and nothing else")
    group.addoption("--budget", type=float, default=0.0, help="seconds after which nothing more is begun; the same command goes on later")
    group.addoption("--local-columns", action="append", default=[], help="columns built from a checkout or wheel: FRAMEWORK=PATH")


def pytest_configure(config: pytest.Config) -> None:
    project = Project(Path(config.getoption("--project")).resolve())
    try:
        columns = pins.select(pins.read(project.pins), config.getoption("--columns"))
        columns = [*columns, *[pins.local_column(pins.read(project.pins), text) for text in config.getoption("--local-columns")]]
        swept = config.getoption("--sweep")
        config.stash[CHOSEN] = {c.id: c for c in all_cells(project, columns) if bool(c.spec.op) == swept}
    except Failed as bad:
        raise pytest.UsageError(str(bad)) from bad


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrised by strings: an object's repr would end in pytest-benchmark's JSON."""
    if "cell" in metafunc.fixturenames:
        timed = metafunc.function.__name__ == "test_speed"
        chosen = metafunc.config.stash[CHOSEN]
        metafunc.parametrize("cell", [i for i, c in chosen.items() if bool(c.spec.case.timing) == timed])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Timed cells come last, case by case; nothing else runs while they do. pytest makes an item of an empty list too: a sweep times nothing."""
    items[:] = [item for item in items if not hasattr(item, "callspec") or isinstance(item.callspec.params.get("cell"), str)]
    # A sweep's budget goes to what a user does first: compiled mode, a compiler's run an example, after all the rest.
    swept = items[0].config.getoption("--sweep") if items else False
    items.sort(key=lambda item: (item.name.startswith("test_speed"), swept and "+compiled" in item.name))


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    # The progress bar and the last lines speak; a dot a cell says nothing.
    return (report.outcome if report.when == "call" or report.outcome != "passed" else ""), "", ""


@pytest.fixture(scope="session")
def matrix(request: pytest.FixtureRequest) -> Iterator[Matrix]:
    config = request.config
    chosen = [config.stash[CHOSEN][item.callspec.params["cell"]] for item in request.session.items if hasattr(item, "callspec")]
    project = Project(Path(config.getoption("--project")).resolve())
    opened = Matrix.open(project, chosen, fresh=config.getoption("--fresh"), sweep=config.getoption("--sweep"))
    opened.budget_s = config.getoption("--budget")
    config.stash[MATRIX] = opened
    try:
        yield opened
    finally:
        opened.close(finished=sum(opened.tally.statuses.values()) == len(chosen))


def hold(answer: Record | None, matrix: Matrix) -> None:
    """Fail a test for what is new, skip what could not be asked, pass what is as its baseline says."""
    if answer is None:
        pytest.skip("left for later: the budget is used up")
    if answer["status"] == "error":
        if answer["cause"] == "harness":
            pytest.fail(f"our own error: {answer['message']}", pytrace=False)
        pytest.skip(f"could not ask ({answer['cause']}): {answer['message']}")
    if answer["status"] in ("absent", "untested"):
        pytest.skip(f"{answer['status']}: {answer['message']}")
    if verdict.change(answer, matrix.baseline.get(record.key(answer))) == "new":
        pytest.fail(f"{record.address(answer)} is {answer['status']}: {answer['message']}", pytrace=False)


class DeviceClock:
    """The clock pytest-benchmark reads: it stands still but for the CPU seconds that a worker reports."""

    now = 0.0

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


device_clock = DeviceClock()
