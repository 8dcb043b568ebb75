"""The probes of a model and its training: the controls agree with the references, planted defects do not."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

from harness.case import as_dtype
from harness.contract import load, validate
from harness.verdict import judge

CASES = Path(__file__).parents[1] / "cases"
SPECS = [
    s
    for case in (
        "gradient_parity",
        "gradient_flow",
        "exact_resume",
        "optimizer_state_shape",
        "decode_parity",
        "tokenizer_fertility",
        "fusion_deep_stack",
        "position_effect",
        "data_order",
    )
    for s in load(CASES / case)
]
ROW = {s.row: s for s in SPECS}


def control(spec):
    """The module of the row's run_numpy.py."""
    source = importlib.util.spec_from_file_location(f"run_numpy_{spec.id}", spec.folder / "run_numpy.py")
    module = importlib.util.module_from_spec(source)
    source.loader.exec_module(module)
    return module


def silent_in(spec, dtype, answer):
    """The checks that object to an answer."""
    decided = judge(spec, dtype, answer, "")
    failed = {f.check for f in decided.findings if not f.holds}
    assert decided.status == ("silent" if failed else "ok")
    return failed


def silent(spec, answer, *checks):
    return silent_in(spec, "float32", {**spec.want, **answer}) == set(checks)


@pytest.mark.parametrize("spec", SPECS, ids=lambda s: s.row)
def test_a_row_can_fail(spec):
    validate(spec)


@pytest.mark.parametrize(("spec", "dtype"), [(s, d) for s in SPECS for d in s.tol], ids=lambda x: getattr(x, "row", x))
def test_the_control_agrees(spec, dtype):
    answer = getattr(control(spec), spec.item or "run")(**as_dtype(spec.tensors, dtype))
    decided = judge(spec, dtype, answer, "numpy")
    assert decided.status == "ok", decided.message


def test_a_tied_table_that_lost_one_of_its_gradients_is_seen():
    spec = ROW["gradient_flow:tied"]
    lookup = np.zeros_like(spec.want["dtable"])
    head = spec.want["dtable"] - lookup
    head[spec.tensors["ids"].ravel()[0]] = 0  # the rows of one token
    assert silent(spec, {"dtable": head}, "dtable close")


def test_heads_that_got_each_others_gradients_are_seen():
    spec = ROW["gradient_flow:tiled_heads"]
    assert silent(spec, {"dk": spec.want["dk"][:, ::-1]}, "dk close")


def test_a_branch_through_a_cast_that_lost_its_graph_is_seen():
    spec = ROW["gradient_flow:cast"]
    assert silent(spec, {"dbeside": spec.want["dbeside"] / 3}, "dbeside close")


@pytest.mark.parametrize("item", ["adamw", "momentum"])
@pytest.mark.parametrize("forgotten", [slice(1, None), slice(1, 2), slice(2, 3), slice(3, 4)])
def test_a_run_that_resumes_without_its_state_is_seen(item, forgotten, monkeypatch):
    spec = ROW[f"exact_resume:{item}"]
    run = control(spec)
    kept = run._saved

    def without(state):
        state = kept(state)
        state[forgotten] = [np.zeros_like(value) for value in state[forgotten]]
        return state

    monkeypatch.setattr(run, "_saved", without)
    answer = getattr(run, item)(**spec.tensors)
    if item == "momentum" and forgotten in (slice(1, 2), slice(3, 4)):  # its step count and second moment decide nothing
        assert judge(spec, "float64", answer, "").status == "ok"
        return
    assert {f.check for f in judge(spec, "float64", answer, "").findings if not f.holds} == {"loss_quotient close", "w_quotient close"}
    assert answer["loss_quotient"][0] == 1, "the first loss after the stop needs no optimizer"


def test_moments_that_start_again_at_a_new_length_are_seen(monkeypatch):
    spec = ROW["optimizer_state_shape"]
    run = control(spec)
    monkeypatch.setattr(run, "BETA1", 0.0)  # a first moment of each step alone
    answer = run.run(**spec.tensors)
    failed = {f.check for f in judge(spec, "float32", answer, "").findings if not f.holds}
    assert failed == {"losses close", "w close", "position close"}


@pytest.mark.parametrize("defect", ["reversed", "fused"])
def test_another_order_or_a_fused_product_is_seen_by_its_bits(defect, monkeypatch):
    spec = ROW["decode_parity:sequential"]
    run = control(spec)

    def backwards(weights, state):
        return ordered(weights[:, ::-1], state[:, ::-1])

    def fused(weights, state):
        return np.einsum("hk,hkv->hv", weights.astype(np.float64), state.astype(np.float64)).astype(np.float32)

    ordered = run._ordered
    monkeypatch.setattr(run, "_ordered", backwards if defect == "reversed" else fused)
    tensors = as_dtype(spec.tensors, "float32")
    assert judge(spec, "float32", run.sequential(**tensors), "").status == "silent"
    exact = ROW["decode_parity:exact"]
    tensors = as_dtype(exact.tensors, "float32")
    assert judge(exact, "float32", run.sequential(**tensors), "").status == "ok", "any order gives these bits"


def test_a_pattern_of_letters_alone_is_seen(monkeypatch):
    spec = ROW["tokenizer_fertility:pieces"]
    run = control(spec)
    monkeypatch.setattr(run, "PIECE", re.compile(r" ?[^\W\d_]+| ?\d+| ?[^\s\w]+|\s+(?!\S)|\s+"))  # Python's \w, too, has no marks
    answer = run.pieces(**spec.tensors)
    assert silent_in(spec, "float64", answer) == {"bn close", "ceiling close"}
    assert answer["ceiling"][0] < 1.6
    assert spec.want["ceiling"][0] > 4
    longer = ROW["tokenizer_fertility:bpe"]
    assert silent_in(longer, "float64", run.bpe(**longer.tensors)) == {"characters_a_token close"}


@pytest.mark.parametrize(("item", "other"), [("marks", str.upper), ("composed", str.lower), ("prefix_space", str.strip)])
def test_only_the_documented_change_of_a_text_is_excused(item, other):
    spec = ROW[f"tokenizer_fertility:{item}"]
    second = spec.documented["tokenizers"].reference(**spec.tensors)
    assert judge(spec, "float64", second, "tokenizers").status == "differs"
    assert judge(spec, "float64", second, "numpy").status == "silent"
    changed = np.array([ord(c) for c in other("".join(map(chr, second["text"]))) + "!"])
    assert judge(spec, "float64", {"text": changed, "characters": np.array([len(changed)])}, "tokenizers").status == "silent"


@pytest.mark.parametrize("item", ["rotary", "learned", "sinusoidal"])
def test_a_model_without_positions_has_no_effect_and_is_seen(item, monkeypatch):
    spec = ROW[f"position_effect:{item}"]
    run = control(spec)
    monkeypatch.setattr(run, "_turn", np.asarray)
    monkeypatch.setattr(run, "_frequencies", lambda channels: np.zeros(channels // 2))
    tensors = {**spec.tensors, **({"position": 0 * spec.tensors["position"]} if item == "learned" else {})}
    answer = getattr(run, item)(**tensors)
    assert abs(answer["effect"]) < 1e-12
    assert abs(spec.want["effect"]) > 0.5
    assert "effect close" in silent_in(spec, "float32", answer)


def test_a_block_that_is_not_trained_is_seen():
    spec = ROW["fusion_deep_stack"]
    w = spec.want["w"].copy()
    w[64] = spec.tensors["w"][64]
    assert silent(spec, {"w": w}, "w close")


def test_an_epoch_that_is_not_shuffled_is_seen(monkeypatch):
    spec = ROW["data_order:epoch"]
    run = control(spec)
    monkeypatch.setattr(run, "_epochs", lambda seed, sample, count: [[sample]] * count)
    assert silent_in(spec, "float64", run.epoch(**spec.tensors)) == {"other_than_storage close", "other_next_epoch close"}


def test_a_set_that_is_shuffled_anew_before_it_is_split_is_seen(monkeypatch):
    spec = ROW["data_order:split"]
    run = control(spec)
    everything = spec.tensors["sample"]
    monkeypatch.setattr(run, "_epochs", lambda seed, rest, count: [[np.roll(everything, 5 * i)[4:]] for i in range(count)])
    assert "times_seen close" in silent_in(spec, "float64", run.split(**spec.tensors))
