"""The trainer's benchmark: its arithmetic on known samples, a planted slow variant, and what it keeps."""

import io
import json
import math
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("rich")

from rich.console import Console  # noqa: E402

from tests import bench_trainer as bench  # noqa: E402
from tests import bench_trainer_figures as figures  # noqa: E402
from tests import bench_trainer_variants as variants  # noqa: E402

pytestmark = pytest.mark.trainer
ROOT = Path(__file__).resolve().parent.parent
QUIET = Console(quiet=True)
measure, no_bfloat16 = bench.measure, bench.no_bfloat16
GOOD = {"ours": 0.10, "ours_compiled": 0.09, "ours_full": 0.11, "hf": 0.15, "hf_pure_bf16": 0.14, "nanogpt": 0.14}
GOOD_16K = {"ours_muon": 3.5, "ours_muon_compiled": 3.2, "hf_adamw_16k": 4.4}
WANTED = figures.Wanted(over="ours", under="hf", bar=1.1)


def sample(name, seconds):
    """What a variant's process says if its median step takes ``seconds``."""
    if name == "gemm":
        return {"flop_per_step": 2e10, "cpu_s": [2 * seconds, seconds], "load": [1.0, 2.0]}
    of_16k = name in GOOD_16K
    cpu_s = [seconds, seconds, 9.0]  # one step of a process was disturbed
    return {
        "parameters": 9,
        "tokens_per_step": 16_384 if of_16k else 512,
        "useful_flop_per_token": 5e7,
        "cpu_s": cpu_s,
        "load": [1.0, 2.0],
    }


def rounds(n=10, slow_rounds=(), **changes):
    usual = {"gemm": 0.05, **GOOD, **GOOD_16K, **changes}
    return [{name: sample(name, s * (2 if i in slow_rounds else 1)) for name, s in usual.items()} for i in range(n)]


def recording():
    return Console(record=True, width=200, file=io.StringIO())


def test_the_lower_bound_by_hand():
    """Ten logarithms of +-0.1: mean 0, standard deviation sqrt(0.1 / 9), and Student's 1.833 for nine degrees of freedom."""
    found = figures.figure(WANTED, [math.exp(0.1), math.exp(-0.1)] * 5)
    assert found.value == pytest.approx(1)
    assert found.lower == pytest.approx(math.exp(-1.833 * math.sqrt(0.1 / 9) / math.sqrt(10)), abs=1e-4)
    assert figures.figure(WANTED, [1.3] * 10).lower == pytest.approx(1.3)
    assert figures.figure(WANTED, [1.2, 1.2 * math.e]).lower == pytest.approx(1.2 * math.exp(0.5 - 6.314 * 0.5), abs=1e-4)
    assert len(figures.T95) == figures.ROUNDS - 1


def test_a_mean_above_its_bar_is_not_enough():
    noisy = figures.figure(WANTED, [1.5, 0.9] * 5)
    assert noisy.value > 1.1 > noisy.lower
    assert noisy.held is False
    assert figures.figure(WANTED, [1.2, 1.19] * 5).held is True
    assert figures.figure(figures.Wanted(over="ours", under="hf"), [1.2] * 3).held is None


def test_figures_by_hand():
    found = figures.figures(rounds())
    assert found["hf_ratio"]["value"] == pytest.approx(1.5)
    assert found["muon_ratio"]["value"] == pytest.approx(4.4 / 3.5, abs=1e-4)
    assert found["full_window_ratio"]["value"] == pytest.approx(15 / 11, abs=1e-4)
    assert found["gemm_share_useful"]["value"] == pytest.approx(512 / 0.1 * 5e7 / (2e10 / 0.05), abs=1e-4)  # the peak is the best product
    assert all(found[name]["held"] for name, wanted in figures.WANTED.items() if wanted.bar)
    assert found["hf_ratio"]["n"] == len(found["hf_ratio"]["per_round"]) == 10


def test_only_measurements_of_the_same_round_are_compared():
    assert figures.figures(rounds(slow_rounds=(1, 4, 5))) == figures.figures(rounds())


@pytest.mark.parametrize(
    ("slow", "fails"),
    [
        ({"ours": 0.14}, {"hf_ratio", "nanogpt_ratio", "gemm_share_useful"}),
        ({"ours_full": 0.16}, {"full_window_ratio"}),
        ({"ours_muon": 4.2}, {"muon_ratio"}),
        ({"gemm": 0.035}, {"gemm_share_useful", "gemm_share_useful_compiled"}),
    ],
)
def test_a_planted_slow_variant_fails_its_bars_and_no_other(slow, fails):
    found = figures.figures(rounds(**slow))
    assert {name for name, f in found.items() if f["held"] is False} == fails


def test_the_compiled_step_may_hold_a_bar_and_this_is_said():
    console = recording()
    slow = rounds(ours=0.14)
    assert bench.show(figures.figures(slow), slow, console) == 0
    assert "gemm_share_useful: not held by the eager step; gemm_share_useful_compiled holds it" in console.export_text()
    assert figures.bars(figures.figures(slow))["gemm_share_useful"] == ["gemm_share_useful_compiled"]
    slower = rounds(ours_full=0.2)
    assert bench.show(figures.figures(slower), slower, QUIET) == 1


@pytest.fixture
def fakes(tmp_path, monkeypatch):
    """The benchmark in a folder of its own; its processes answer at once, and their names are noted."""
    asked, usual = [], {"gemm": 0.05, **GOOD, **GOOD_16K}

    def measure(name):
        asked.append(name)
        return sample(name, usual[name])

    monkeypatch.setattr(bench, "RESULT", tmp_path / "results" / "trainer.json")
    monkeypatch.setattr(bench, "WORK", tmp_path / "work")
    monkeypatch.setattr(bench, "measure", measure)
    monkeypatch.setattr(bench, "no_bfloat16", lambda: "")
    monkeypatch.setattr(bench, "identity", lambda: {"code": "1", "machine": "here"})
    return asked


def test_ten_rounds_are_written_with_every_key(fakes):
    assert bench.main([], console=QUIET) == 0
    text = bench.RESULT.read_text()
    found = json.loads(text)
    assert {"status", "date", "command", "machine", "load", "protocol", "variants", "held_by", *figures.WANTED} <= found.keys()
    assert found["status"] == "measured"
    assert found["load"] == {"before": 1.0, "after": 2.0, "highest": 2.0}
    assert found["machine"].keys() >= {"chip", "cores", "torch", "transformers", "threads"}
    assert found["hf_ratio"].keys() == {"value", "lower", "bar", "goal", "held", "n", "per_round"}
    assert all(len(of["cpu_s"]) == 10 for of in found["variants"].values())
    assert found["variants"].keys() == variants.VARIANTS.keys()
    assert str(ROOT) not in text
    assert not (bench.WORK / "rounds.jsonl").exists()  # the next run measures anew


def test_the_order_changes_from_round_to_round(fakes):
    bench.main(["--rounds", "4"], console=QUIET)
    size = len(variants.VARIANTS)
    orders = [tuple(fakes[i : i + size]) for i in range(0, len(fakes), size)]
    assert len(set(orders)) == 4
    assert all(set(order) == set(variants.VARIANTS) for order in orders)
    assert len({order[0] for order in orders}) > 1
    assert not bench.RESULT.exists()  # fewer than ten rounds


@pytest.mark.parametrize("rounds", ["0", "1", "11"])
def test_rounds_without_a_bound_are_refused(rounds, fakes, capsys):
    with pytest.raises(SystemExit, match="2"):
        bench.main(["--rounds", rounds])
    assert f"found --rounds {rounds}" in capsys.readouterr().err


def test_an_interrupted_run_goes_on_where_it_was(fakes, monkeypatch):
    measure, size = bench.measure, len(variants.VARIANTS)

    def interrupted(name):
        if len(fakes) == 7:
            raise KeyboardInterrupt
        return measure(name)

    monkeypatch.setattr(bench, "measure", interrupted)
    assert bench.main(["--rounds", "2"], console=QUIET) == 130
    store = bench.WORK / "rounds.jsonl"
    with store.open("a") as file:
        file.write('{"round": 0, "variant": "o')  # killed while writing
    monkeypatch.setattr(bench, "measure", measure)
    assert bench.main(["--rounds", "2"], console=QUIET) == 0
    assert len(fakes) == 2 * size
    assert all(fakes.count(name) == 2 for name in variants.VARIANTS)


@pytest.mark.parametrize("why", ["--fresh", "other code"])
def test_what_is_not_of_this_run_is_measured_again(why, fakes, monkeypatch):
    store = bench.WORK / "rounds.jsonl"
    store.parent.mkdir(parents=True)
    store.write_text("".join(json.dumps(x) + "\n" for x in (bench.identity(), {"round": 0, "variant": "hf", **sample("hf", 1.0)})))
    if why == "other code":
        monkeypatch.setattr(bench, "identity", lambda: {"code": "2", "machine": "here"})
    bench.main(["--rounds", "2", *([why] if why == "--fresh" else [])], console=QUIET)
    assert len(fakes) == 2 * len(variants.VARIANTS)


def test_a_code_that_changes_meanwhile_ends_the_run(fakes, monkeypatch):
    monkeypatch.setattr(bench, "identity", lambda: {"code": str(len(fakes)), "machine": "here"})
    assert bench.main(["--rounds", "2"], console=QUIET) == 5
    assert len(fakes) == 1


@pytest.mark.parametrize(("able", "runs"), [({"avx512_bf16": True}, True), ({"avx512_bf16": False, "amx_bf16": False}, False), ({}, False)])
def test_a_processor_without_bfloat16_is_shown_as_not_run(able, runs, fakes, monkeypatch):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: able)
    monkeypatch.setattr(bench, "no_bfloat16", no_bfloat16)
    console = recording()
    assert bench.main([], console=console) == 0
    assert ("not run: this processor" in console.export_text()) is not runs
    assert json.loads(bench.RESULT.read_text())["status"] == ("measured" if runs else "not run")
    assert bool(fakes) is runs


def test_a_variant_that_fails_is_an_error_with_its_last_words(fakes, monkeypatch):
    monkeypatch.setattr(variants, "VARIANTS", {"nothing": None})
    monkeypatch.setattr(bench, "measure", measure)
    console = recording()
    assert bench.main(["--rounds", "2"], console=console) == 5
    said = console.export_text()
    assert "error: variant nothing ended with 1" in said
    assert "KeyError: 'nothing'" in said


def test_the_variants_are_those_that_the_figures_and_the_file_name():
    assert variants.VARIANTS.keys() == variants.MEANINGS.keys()
    assert {name for wanted in figures.WANTED.values() for name in (wanted.over, wanted.under)} == variants.VARIANTS.keys()
