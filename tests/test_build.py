"""An environment that cannot be made costs its own column, with the cause and what to do."""

import dataclasses
import json
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest

from harness import build, environment, pins
from harness.cell import between, load_specs
from harness.matrix import all_cells
from harness.project import ROOT, Project


@pytest.fixture
def column(fakes):
    return pins.read(fakes.pins)[0]


def made(fakes, column, **more):
    (fakes.root / "venv" / "bin").mkdir(parents=True, exist_ok=True)
    return build.build(fakes, column, load_specs(fakes), venv=fakes.root / "venv", **more)


def test_no_lock(fakes, column):
    result = made(fakes, column)
    assert (result.cause, result.found) == ("install", "no lock fake-1.0.txt")
    assert "-s lock" in result.do


def test_no_room(fakes, column, monkeypatch):
    (fakes.locks / column.lock).write_text("")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=2e9))
    result = made(fakes, dataclasses.replace(column, disk_gb=6.5))
    assert (result.cause, result.found) == ("install", "2.0 GB free where fake-1.0 would be built")
    assert "clean" in result.do


def test_no_uv(fakes, column, monkeypatch):
    (fakes.locks / column.lock).write_text("")
    monkeypatch.setattr(build, "UV", "/no/such/uv")
    assert made(fakes, column).cause == "toolchain"


def test_a_failed_install_keeps_uvs_words(fakes, column, monkeypatch, tmp_path):
    (fakes.locks / column.lock).write_text("")
    uv = tmp_path / "uv"
    uv.write_text("#!/bin/sh\necho 'error: hash mismatch for numpy' >&2\nexit 2\n")
    uv.chmod(0o755)
    monkeypatch.setattr(build, "UV", str(uv))
    result = made(fakes, column)
    assert result.cause == "install"
    assert "hash mismatch for numpy" in result.found


@pytest.fixture
def uv(fakes, column, monkeypatch, tmp_path):
    """A uv that writes down what it was asked."""
    (fakes.locks / column.lock).write_text("numpy==1\n")
    asked = tmp_path / "asked"
    script = tmp_path / "uv"
    script.write_text(f'#!/bin/sh\necho "$@" >> {asked}\n')
    script.chmod(0o755)
    monkeypatch.setattr(build, "UV", str(script))
    python = fakes.root / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\necho CPython 3.11.7; echo 1.0\n")
    python.chmod(0o755)
    return lambda: asked.read_text().splitlines() if asked.exists() else []


def test_a_lock_is_installed_once_and_again_when_it_changes(fakes, column, uv):
    assert made(fakes, column).cause is None
    made(fakes, column)
    assert len(uv()) == 1
    assert "--require-hashes" in uv()[0]
    (fakes.locks / column.lock).write_text("numpy==2\n")
    made(fakes, column)
    assert len(uv()) == 2


def test_the_cpu_index_is_an_opt_in_that_is_recorded(fakes, column, uv, asker):
    column = dataclasses.replace(column, requires=("fake==1.0",))
    result = made(fakes, column, backend="cpu")
    assert "--torch-backend cpu fake==1.0" in uv()[-1]
    assert "--require-hashes" not in uv()[-1]
    assert result.backend == environment.read(fakes, column).backend == "cpu"


def test_the_version_asked_is_that_of_the_first_requirement(fakes, column, uv):
    (fakes.root / "venv" / "bin" / "python").write_text('#!/bin/sh\necho CPython 3.11.7; echo "$3"\n')
    assert made(fakes, dataclasses.replace(column, requires=("fake-cpu==1.0", "numpy==1"))).version == "fake-cpu"


def test_a_framework_that_is_a_folder_of_ours_is_linked_in_and_not_installed(fakes, column, uv):
    packages = fakes.root / "venv" / "lib" / "python3.11" / "site-packages"
    packages.mkdir(parents=True)
    for name in ("first", "second"):
        (fakes.root / name).mkdir()
        ours = dataclasses.replace(column, source=str(fakes.root / name), local=str(fakes.root), requires=("torch==1.0",))
        assert made(fakes, ours).version == column.version
        assert (packages / column.framework).readlink() == fakes.root / name
    assert [line.split()[:2] for line in uv()] == [["pip", "sync"]]


def test_the_failure_becomes_error_records(fakes, column, asker):
    made(fakes, column)
    cell = next(c for c in all_cells(fakes, [column]) if c.spec.id == "many")
    answer = asker.ask(cell)
    assert (answer["status"], answer["cause"]) == ("error", "install")
    assert "no lock fake-1.0.txt" in answer["message"]


def test_a_missing_interpreter_becomes_error_records(fakes, column, asker):
    build.refuse(fakes, dataclasses.replace(column, python="3.99"))
    answer = asker.ask(next(c for c in all_cells(fakes, [column]) if c.spec.id == "many"))
    assert (answer["status"], answer["cause"]) == ("error", "interpreter")


@pytest.mark.parametrize("text", ["", "{", '{"column": "fake-1.0", "surprise": 1}', "[]"])
def test_a_corrupt_manifest_is_an_install_error(fakes, column, text):
    environment.manifest(fakes, column).write_text(text)
    assert environment.read(fakes, column).cause == "install"


def test_an_interpreter_that_is_gone_is_an_install_error(fakes, column):
    environment.manifest(fakes, column).write_text(json.dumps({"column": column.id, "python": "/no/such/python"}))
    assert "is gone" in environment.read(fakes, column).found


@pytest.mark.parametrize(("edited", "said"), [("run file", "cases/many/"), ("glue", "probe_rs")])
def test_a_probe_older_than_its_run_file_or_its_glue_is_not_asked(fakes, column, asker, edited, said):
    """The record would carry the new text beside the old binary's answer."""
    cell = next(c for c in all_cells(fakes, [column]) if c.spec.id == "many")
    name = f"many/{cell.file.path.name}"
    manifest = {"column": column.id, "binary": sys.executable, "compiled": {name: environment.sha256(cell.file.path)}}
    environment.manifest(fakes, column).write_text(json.dumps({**manifest, "glue": "" if edited == "glue" else between(column)}))
    if edited == "run file":
        cell.file.path.write_text(cell.file.path.read_text() + "# edited\n")
    answer = asker.ask(cell)
    assert (answer["status"], answer["cause"]) == ("error", "build")
    assert "changed since fake-1.0 was built" in answer["message"]
    assert said in answer["message"]


def test_the_sessions_are_the_columns():
    listed = subprocess.run([sys.executable, "-m", "harness", "list", "--json"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert {c["column"] for c in json.loads(listed.stdout)} == {c.id for c in pins.read(Project().pins)}
