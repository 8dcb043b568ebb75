"""The short run at full speed: what it prints, that it ends by itself, and what it does without a GPU or without memory."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from trainer import config, speed, trial  # noqa: E402

pytestmark = pytest.mark.trainer
ROOT = Path(__file__).resolve().parent.parent
SHORT = ["nano", "--steps", "3", "--peak_tflops", "0.5"]


def run(*argv):
    said = []
    return trial.main(list(argv), say=said.append), said


def test_a_rehearsal_on_the_cpu_prints_what_the_gpu_would(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, said = run(*SHORT)
    assert code == 0
    assert sum(line.startswith("step ") for line in said) == trial.WARM + 3
    lines = {line.partition(":")[0]: line for line in said}
    assert "the median of 3 steps of 512 tokens" in lines["tokens/s"]
    assert all(word in lines["MFU"] for word in ("palm ", "useful ", "HFU ", "peak: 0.5 TFLOP/s (--peak_tflops)"))
    assert "GiB" in lines["memory"]
    assert "hours, $" in lines["2B tokens"]
    assert lines["goal"].endswith("45% useful MFU, preset paper on one H100: not asked here")
    assert not list(tmp_path.iterdir())  # nothing is kept


def test_cuda_without_a_gpu_is_an_error(capsys):
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    assert run("paper", "--device", "cuda") == (4, [])
    assert capsys.readouterr().err.startswith("error: no GPU")


@pytest.mark.parametrize("argv", [["nana"], ["nano", "--stepz", "3"], ["nano", "--out", "x"], ["nano", "--data=x"]])
def test_a_wrong_command_is_refused(argv, capsys):
    assert run(*argv) == (2, [])
    assert capsys.readouterr().err.startswith("found:   ")


def test_steps_and_vocabulary_are_the_trials_where_they_are_not_given():
    assert trial.chosen("paper", []).steps == trial.STEPS
    assert trial.chosen("paper", ["--steps=7600"]).steps == 7600
    assert trial.chosen("tiny", []).vocab_size == trial.VOCABULARY
    assert trial.chosen("paper", []) == config.paper(steps=trial.STEPS, out="")


def test_out_of_memory_halves_the_micro_batch_and_not_the_step(monkeypatch):
    one_step = trial.one_step

    def crowded(run):
        if run.config.batch > 1:
            raise torch.OutOfMemoryError
        return one_step(run)

    monkeypatch.setattr(trial, "one_step", crowded)
    code, said = run(*SHORT)
    assert code == 0
    assert [line for line in said if "memory:" in line][:2] == [
        "out of memory: going on with --batch 2 --accumulate 4",
        "out of memory: going on with --batch 1 --accumulate 8",
    ]
    assert any("steps of 512 tokens" in line for line in said)
    assert run(*SHORT, "--batch", "3")[0] == 1  # 3 sequences cannot be halved


def test_it_stops_at_its_minutes(monkeypatch, capsys):
    one_step = trial.one_step

    def slow(run):
        time.sleep(0.3)
        return one_step(run)

    monkeypatch.setattr(trial, "one_step", slow)
    start = time.monotonic()
    code, said = run("nano", "--steps", "1000", "--minutes", "0.04")
    assert code == 0
    assert time.monotonic() - start < 20
    assert any("tokens/s:" in line for line in said)
    assert run("nano", "--minutes", "0.001")[0] == 1
    assert "were too short for 3 warm steps and one more" in capsys.readouterr().err


def test_what_hangs_is_ended():
    code = "import time; from trainer import trial; trial.GRACE_S = 1; trial.one_step = lambda run: time.sleep(600); trial.main()"
    hung = subprocess.run(
        [sys.executable, "-c", code, "nano", "--minutes", "0.01"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert hung.returncode == 1
    assert "Timeout" in hung.stderr
    assert "trial.py" in hung.stderr  # where it was


@pytest.mark.parametrize(("mfu", "said"), [(0.451, "reached"), (0.449, "not reached")])
def test_the_goal_and_the_price(mfu, said):
    step = {
        "tokens_per_s": 160_000.0,
        "mfu_palm": 0.5,
        "mfu_useful": mfu,
        "hfu": 0.5,
        "power_w": 650.0,
        "sm_mhz": 1700,
        "memory_bytes": 2**36,
    }
    peak = speed.Peak(tflops=989.4, source="data sheet")
    measured = trial.Measured(config=config.paper(), peak=peak, silent=None, steps=[step] * 3)
    lines = trial.lines(measured, product_tflops=700.0)
    assert lines["goal"].endswith(f": {said}")
    assert lines["2B tokens"] == "3.5 hours, $10.42 at $3.00 an hour"
    assert lines["GPU"] == "650 W, 1700 MHz"
    assert lines["memory"] == "64.0 GiB at most"
