"""Real frameworks and our trainer: cells of the newest versions, against the baseline and against what the first page must show."""

import os
import subprocess
import sys

import pytest

from harness import pins, record, verdict, verify
from harness.errors import Exit
from harness.matrix import all_cells
from harness.project import ROOT, Project

pytestmark = pytest.mark.real
COLUMNS = [c.id for c in pins.select(pins.read(Project().pins), ["real"])]


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    results = tmp_path_factory.mktemp("results")
    command = [sys.executable, "-m", "harness", "run", "--fresh", *[f"--columns={c}" for c in COLUMNS]]
    run = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "SILENTBENCH_RESULTS": str(results)}, capture_output=True, text=True, check=False
    )
    print(run.stdout[-2000:], run.stderr[-2000:])
    records, bad = record.read_folder(results / "latest")
    assert bad == []
    return run.returncode, records


def statuses(answers, **wanted):
    found = [r for r in answers[1] if all(r[k] == v for k, v in wanted.items())]
    assert found
    return {r["status"] for r in found}


def test_every_cell_is_as_its_baseline_says(answers):
    if not Project().baseline.exists():
        pytest.skip("no baseline of this platform")
    assert answers[0] == Exit.CLEAN


def test_every_cell_was_asked(answers):
    cells = [
        c for c in all_cells(Project(), pins.select(pins.read(Project().pins), COLUMNS)) if not c.spec.op
    ]  # a sweep is a run of its own
    assert len(answers[1]) == len(cells)
    assert [r["message"] for r in answers[1] if r["status"] == "error" and r["cause"] != "device"] == []
    assert "numpy" not in {r["framework"] for r in answers[1] if r["status"] == "untested"}
    for r in answers[1]:
        record.validate(r)


def test_the_control_is_right_everywhere(answers):
    assert statuses(answers, framework="numpy") == {"ok"}


def test_torch_in_float64_is_nowhere_wrong(answers):
    assert not statuses(answers, framework="torch", dtype="float64") & set(verdict.BAD)
    assert statuses(answers, framework="torch", dtype="float64", case="rms_norm_backward") == {"ok"}


@pytest.mark.parametrize("variant", ["", "module"])
def test_candles_fused_rms_norm_has_no_gradient(answers, variant):
    assert statuses(answers, framework="candle", case="rms_norm_backward", variant=variant, dtype="float32") == {"silent"}


def test_candles_composed_rms_norm_is_right(answers):
    assert statuses(answers, framework="candle", case="rms_norm_backward", variant="composed") == {"ok"}


@pytest.mark.parametrize("item", ["half_split", "interleaved"])
def test_candles_fused_rope_has_no_gradient_and_the_composed_one_has(answers, item):
    assert statuses(answers, framework="candle", case="rope_axis", item=item, variant="") == {"silent"}
    assert statuses(answers, framework="candle", case="rope_axis", item=item, variant="composed") == {"ok"}


def test_candles_linear_is_wrong_on_a_view_only(answers):
    assert statuses(answers, framework="candle", case="linear_layout", variant="") == {"silent"}
    assert statuses(answers, framework="candle", case="linear_layout", variant="contiguous") == {"ok"}


def test_candle_offers_no_muon(answers):
    assert statuses(answers, framework="candle", case="muon_dimensionality") == {"absent"}


def test_burns_muon_scales_a_linear_the_other_way_round(answers):
    assert statuses(answers, framework="burn", case="muon_dimensionality", item="linear_wide", variant="") == {"silent"}
    assert statuses(answers, framework="burn", case="muon_dimensionality", item="linear_wide", variant="matrices") == {"ok"}


def test_committed_cells_asked_again_agree():
    committed = [r for r in verify.sample(Project(), 500, seed=1) if r["column"] in COLUMNS][:40]
    if not committed:
        pytest.skip("no baseline of this platform")
    assert [str(d) for d in verify.verify(Project(), committed)] == []
