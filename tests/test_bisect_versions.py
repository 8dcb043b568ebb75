"""Which versions a search may ask: what pip and cargo list, and the column that a version without a pin is given."""

import dataclasses
import json
import time

import pytest
from bisected import CELL

from harness import environment, pins
from harness.bisect import column as columns
from harness.bisect import versions
from harness.bisect.question import read as question
from harness.errors import BadInput, CannotBuild
from harness.pins import release_key, unpinned
from harness.project import Project

PIP = """Found link https://x.org/a/jax-0.4.31-py3-none-any.whl#sha256=0 (from https://x.org/simple/jax/), version: 0.4.31
  Skipping link: yanked for reason: <none given>: https://x.org/a/jax-0.4.32-py3-none-any.whl (from https://x.org/simple/jax/) (requires-python:>=3.10)
  Skipping link: yanked for reason: broken: on arm: https://x.org/a/jax-0.4.5.tar.gz#sha256=1 (from https://x.org/simple/jax/)
{"name": "jax", "versions": ["0.10.2", "0.10.0rc1", "0.4.31"], "latest": "0.10.2"}
"""


def test_pips_listing():
    found = versions.distribution("jax", PIP)
    assert found.versions == ["0.4.31", "0.10.0rc1", "0.10.2"]
    assert found.yanked == {"0.4.32": "<none given>", "0.4.5": "broken: on arm"}


def entry(*lines):
    """A file of cargo's cache: a header, then of each version its name and its line of the index."""
    parts = [
        b"\x03\x02\x00\x00\x00etag",
        *(p for v, y in lines for p in (v.encode(), json.dumps({"name": "c", "vers": v, "yanked": y}).encode())),
    ]
    return b"\0".join(parts) + b"\0"


def test_cargos_index_entry():
    found = versions.crate("c", entry(("0.10.0", False), ("0.9.0", True), ("0.9.1", False), ("0.9.2-alpha.1", False)))
    assert found.versions == ["0.9.1", "0.9.2-alpha.1", "0.10.0"]
    assert list(found.yanked) == ["0.9.0"]
    assert found.between("0.9.1", "0.10.0", pre=False) == ["0.9.1", "0.10.0"]
    assert found.between("0.9.1", "0.10.0", pre=True) == ["0.9.1", "0.9.2-alpha.1", "0.10.0"]
    with pytest.raises(CannotBuild, match="another form"):
        versions.crate("c", b"\x04nothing that is known")


def test_a_listing_is_kept_for_a_day(fakes, monkeypatch):
    asked = []

    def list_(package, python):
        asked.append((package, python))
        return versions.Releases(package=package, versions=["1.0"], read_at=time.time())

    monkeypatch.setattr(versions, "_distribution", list_)
    column = pins.read(fakes.pins)[0]
    first, second = (versions.released(column, fakes.root) for _ in range(2))
    assert (asked, first.cached, second.cached) == ([("fake", "3.11")], False, True)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + versions.DAY_S + 60)
    versions.released(column, fakes.root)
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("framework", "version", "holds"),
    [
        ("candle", "0.9.0", {"crates": ("candle-core", "candle-nn"), "language": "rust", "lock": "candle-0.9.0.Cargo.lock"}),
        ("jax", "0.4.36", {"requires": ("jax==0.4.36", "optax==0.2.5", "numpy==2.4.6", "safetensors==0.8.0")}),
        ("jax", "0.10.1", {"python": "3.11"}),
        ("jax", "0.4.30", {"id": "jax-0.4.30"}),
        ("burn", "0.22.0", {"features": ("std", "ndarray", "autodiff")}),
        ("burn", "0.23.0", {"features": ("std", "flex", "autodiff", "optim", "linalg")}),
    ],
)
def test_a_version_without_a_pin_takes_the_nearest_pins_options(framework, version, holds):
    column = unpinned(Project().pins, framework, version)
    assert {name: getattr(column, name) for name in holds} == holds
    assert column.tags == (framework, "bisect")


def test_a_pinned_version_is_its_own_nearest():
    for column in pins.read(Project().pins):
        if not column.source:
            made = unpinned(Project().pins, column.framework, column.version, column.backend)
            assert dataclasses.replace(made, tags=()) == dataclasses.replace(column, tags=())


def test_a_folder_of_ours_has_no_releases():
    with pytest.raises(BadInput, match="trainer"):
        unpinned(Project().pins, "trainer", "0.1.0")
    assert release_key("0.23.0-pre.1") < release_key("0.23.0")


def test_an_ad_hoc_column_is_apart_from_the_pinned_ones(fakes, monkeypatch):
    asked = []
    monkeypatch.setattr(
        columns.build, "build", lambda project, column, specs, venv: asked.append(project) or environment.Environment(column=column.id)
    )
    monkeypatch.setattr(columns.build, "lock", lambda project, column: (project.locks / column.lock).write_text("resolved"))
    monkeypatch.setattr(columns, "_venv", lambda *_: fakes.root)
    spec = question(fakes, CELL).spec
    (fakes.locks / "fake-2.0.txt").write_text("pinned")
    for version, lock in (("2.0", "pinned"), ("2.1", "resolved")):
        project, _ = columns.make(fakes, unpinned(fakes.pins, "fake", version), spec)
        assert (project.locks / f"fake-{version}.txt").read_text() == lock
        assert project.locks.is_relative_to(fakes.environments / "bisect")
        assert asked[-1].environments == fakes.environments / "bisect"
