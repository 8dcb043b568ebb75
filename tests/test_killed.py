"""A run killed at any moment loses at most the cell in flight, and the same command goes on."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness import record
from harness.project import ROOT

COMMAND = [sys.executable, "-m", "harness", "--project", "{root}", "run", "-k", "{keyword}"]
KILLS = int(os.environ.get("KILLS", "50"))


def start(project, keyword="many"):
    command = [part.format(root=project.root, keyword=keyword) for part in COMMAND]
    environment = {**os.environ, "SILENTBENCH_RESULTS": str(project.root / "results")}
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # a shell's background job starts with it ignored
    )


def finish(run):
    said = run.communicate(timeout=120)[0]
    assert run.returncode == 0, said
    return said


def workers(project):
    """Live processes that serve this project: their command line names its adapter."""
    mark = str(project.frameworks).encode()
    return [p for p in Path("/proc").glob("[0-9]*/cmdline") if mark in _read(p)]


def _read(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


def of_run(project):
    state = json.loads((project.latest / "run.json").read_text()) if (project.latest / "run.json").exists() else {}
    records, bad = record.read_folder(project.latest)
    return {record.key(r): r for r in records if r["run"] == state.get("run")}, bad


@pytest.mark.slow
def test_fifty_kills(fakes):
    moments = random.Random(2168)
    began = time.monotonic()
    finish(start(fakes))
    whole = time.monotonic() - began
    resumed = in_the_middle = stumps = 0
    for _ in range(KILLS):
        before, _ = of_run(fakes)
        run = start(fakes)
        time.sleep(moments.uniform(0.3, 1.1) * whole)
        killed = run.poll() is None
        run.send_signal(signal.SIGKILL)
        said = run.communicate()[0]
        resumed += "going on with run" in said
        after, bad = of_run(fakes)
        stumps += len(bad)
        state = json.loads((fakes.latest / "run.json").read_text())
        if {r["run"] for r in before.values()} == {
            state["run"]
        }:  # the same run went on: nothing it had measured is gone or was asked again
            assert {k: after[k] for k in before} == before
        in_the_middle += killed and 0 < len(after) < 48 and not state["ended"]
        deadline = time.monotonic() + 10
        while workers(fakes) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not workers(fakes), "a killed run leaves no worker"
    print(f"{KILLS} kills, {in_the_middle} in the middle of the cells, {resumed} runs gone on with, {stumps} broken lines")
    assert in_the_middle >= KILLS // 5, "the kills must hit the cells, not only the start"
    finish(start(fakes))
    found, bad = of_run(fakes)
    assert len(found) == 48
    assert {r["status"] for r in found.values()} == {"ok"}
    run = next(iter(found.values()))["run"]
    every = [r for f in fakes.latest.glob("*.jsonl") for r in record.read(f)[0] if r["run"] == run]
    assert len(every) == 48, "no cell was asked twice in a run"


def test_ctrl_c_and_go_on(fakes):
    run = start(fakes)
    deadline = time.monotonic() + 20
    while len(of_run(fakes)[0]) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    run.send_signal(signal.SIGINT)
    said = run.communicate(timeout=20)[0]
    assert run.returncode == 130, said
    assert "goes on where it stopped" in said
    measured, _ = of_run(fakes)
    said = finish(start(fakes))
    assert f"{len(measured)} of 48 cells are measured already" in said
    found, _ = of_run(fakes)
    assert {k: found[k] for k in measured} == measured


def test_two_runs_at_once(fakes):
    one = start(fakes, "hang or sigterm or forever")  # many seconds, not milliseconds
    deadline = time.monotonic() + 20
    while not (fakes.latest / "run.json").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    two = start(fakes)
    said = two.communicate(timeout=20)[0]
    assert two.returncode == 5
    assert "another run is writing" in said
    assert "SILENTBENCH_RESULTS" in said
    assert "8 hang" in one.communicate(timeout=60)[0], "the first is not disturbed"
