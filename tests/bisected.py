"""A fake whose answer changes at 3.0, and a search over its releases; careful that nothing is built and no index is asked."""

import sys

import pytest

from harness import environment
from harness.bisect import column as columns
from harness.bisect import run, versions
from harness.bisect.question import read as question
from harness.errors import CannotBuild

RELEASED = ["1.0", "1.1", "2.0", "2.1", "2.2", "3.0", "3.1", "4.0", "4.1rc1"]
CELL = "many:row00@float32"
BROKEN = {"y": "x * x", "dx": "x + x + x"}


@pytest.fixture
def built(fakes, monkeypatch):
    """The versions that were built, in their order; 2.1 does not build."""
    order = []

    def make(project, column, spec):
        order.append(column.version)
        adhoc = columns.AdHoc(project.root)
        made = environment.Environment(column=column.id, python=sys.executable, toolchain="test")
        if column.version == "2.1":
            made = environment.failed(column, CannotBuild("build", "error[E0]: it does not compile", "a build", "nothing"))
        environment.write(adhoc, made, column)
        return adhoc, made

    monkeypatch.setattr(columns, "make", make)
    releases = versions.Releases(package="fake", versions=RELEASED, yanked={"2.3": "wrong wheel"})
    monkeypatch.setattr(versions, "released", lambda *_, **__: releases)
    answer = "".join(f"    out[{name!r}] = {value}\n" for name, value in BROKEN.items())
    (fakes.cases / "many" / "run_fake@3.0.py").write_text(f"def row00(x):\n    out = {{}}\n{answer}    return out\n")
    return order


def search(project, cell=CELL, **options):
    said = []
    return run.open_(project, question(project, cell), "fake", run.Options(**options), said.append).run()
