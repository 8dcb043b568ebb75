"""Fixtures: a project of fakes in a folder of its own."""

import importlib.util
import json
import shutil
import sys
from pathlib import Path

import pytest

# The harness is imported inside the fixtures: the trainer's tests run in an environment that has no part of it.

# Gradarbiter's tests need the environment of their own (python3 noxfile.py -s tests-arbiter), and import its frameworks.
collect_ignore_glob = [] if importlib.util.find_spec("torch") else ["test_gradarbiter_*.py"]

# Helpers of several files of tests: what they assert says what it found, as in a test; a file takes a fixture by its name (run = drawn_page.run).
pytest.register_assert_rewrite("drawn_page", "export_readers", "page_visit")

FAKES = Path(__file__).parent / "fakes" / "project"


def pytest_make_parametrize_id(val):
    """A case's row names its test; its repr would be a page, with addresses that differ from process to process."""
    return getattr(val, "row", None)


def project_of_fakes(folder):
    """A copy of the fakes' project whose two columns are ready: the harness's own interpreter."""
    from harness import pins
    from harness.project import Project

    root = folder / "project"
    shutil.copytree(FAKES, root, ignore=shutil.ignore_patterns("__pycache__", "results"))
    project = Project(root)
    project.locks.mkdir(exist_ok=True)
    for column in pins.read(project.pins):
        ready = root / ".nox" / "ready" / f"{column.id}.json"
        ready.parent.mkdir(parents=True, exist_ok=True)
        ready.write_text(json.dumps({"column": column.id, "python": sys.executable, "toolchain": "test"}))
    return project


@pytest.fixture
def fakes(tmp_path):
    return project_of_fakes(tmp_path)


@pytest.fixture(scope="module")
def fakes_once(tmp_path_factory):
    """The same, for tests that only read what one run gave."""
    return project_of_fakes(tmp_path_factory.mktemp("fakes"))


@pytest.fixture
def asker(fakes):
    from harness.ask import Asker

    with Asker(fakes, run="test") as opened:
        yield opened


@pytest.fixture
def fake_cells(fakes):
    """Variant -> its cell on column fake-1.0."""
    from harness import pins
    from harness.matrix import all_cells

    return {c.variant: c for c in all_cells(fakes, pins.select(pins.read(fakes.pins), ["fake-1.0"])) if c.spec.id == "scale"}
