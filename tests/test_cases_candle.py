"""The cases of what candle's training met: references held against central differences, planted leaks and off-by-ones that must be noticed."""

import itertools
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from harness import child, speed, verdict
from harness.case import as_dtype
from harness.contract import load, validate
from harness.verdict import judge

CASES = Path(__file__).parent.parent / "cases"
NAMES = (
    "layer_norm_backward",
    "softmax_backward",
    "rope_backward",
    "graph_truncation",
    "layout_mismatch",
    "half_eps_underflow",
    "flash_attention_backward",
    "stale_weights",
    "softmax_masked_row",
    "softmax_memory",
    "causal_mask_rebuild",
    "activation_retention",
    "optimizer_memory",
)
SPECS = {spec.row: spec for name in NAMES for spec in load(CASES / name)}
TIMED = {spec.id: spec for spec in SPECS.values() if spec.case.timing}
# Left out: a dy that stands for more rows than y, a gradient of what is no function of its input any more, and 65,536 weights.
UNLIKE = ("set_between", "infinity", "lowest", "fused")
SLOPED = [s for s in SPECS.values() if {"y", "dy"} <= {*s.want, *s.tensors} and not s.case.timing and s.item not in UNLIKE]


def module_of(spec, replaced=("", "")):
    """The control's run file, with a defect planted by replacing a part of its text."""
    text = (spec.folder / "run_numpy.py").read_text()
    assert replaced[0] in text
    module = {"kept": []}
    exec(compile(text.replace(*replaced), "run_numpy.py", "exec"), module)
    return SimpleNamespace(**module)


def function_of(spec, replaced=("", "")):
    return getattr(module_of(spec, replaced), "step" if spec.case.timing else spec.item or "run")


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_a_row_can_fail(spec):
    validate(spec)
    assert all(len(t.why) > 20 for t in spec.tol.values())


@pytest.mark.parametrize("spec", SLOPED, ids=lambda s: s.row)
def test_a_reference_gradient_is_the_central_difference(spec):
    def loss(**changed):
        return float(np.sum(spec.reference(**{**spec.tensors, **changed})["y"] * spec.tensors["dy"]))

    rng = np.random.default_rng(0)
    for name in (n for n in spec.want if n.startswith("d")):
        x = spec.tensors[name[1:]]
        places = list(itertools.islice((tuple(p) for p in rng.permutation(list(np.ndindex(x.shape)))), 40))
        for place in places:
            step = 1e-5 * (abs(x[place]) or 2.0**-12)  # some rows are small, and bend within a larger step
            up, down = x.copy(), x.copy()
            up[place] += step
            down[place] -= step
            slope = (loss(**{name[1:]: up}) - loss(**{name[1:]: down})) / (2 * step)
            # A difference of two sums of size 1000 is off by their rounding over the step.
            assert slope == pytest.approx(spec.want[name][place], rel=1e-5, abs=1e-6 + 1e-12 / step), (spec.row, name, place)


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_the_control_agrees(spec):
    for dtype in spec.tol:
        verdict_ = judge(spec, dtype, function_of(spec)(**as_dtype(spec.tensors, dtype)), "numpy")
        assert verdict_.status == "ok", (dtype, verdict_.message)


def memory_quantities(spec, replaced=("", "")):
    function, tensors = function_of(spec, replaced), as_dtype(spec.tensors, "float32")
    function(**tensors)
    added = child.added_memory(SimpleNamespace(settle=lambda out: out), function, tensors)
    cell = SimpleNamespace(spec=spec, dtype="float32")
    once = child.added_memory(SimpleNamespace(settle=lambda out: out), function.__globals__["forward"], tensors)
    return speed.quantities(cell, {"cpu_s": {}, "flops": {}, "memory_bytes": {"forward": once, "step": added}})


@pytest.mark.parametrize(
    ("name", "leak"),
    [
        ("activation_retention", ("dw2 += h.T @ dy", "kept.append(h.T @ dy); dw2 += kept[-1]")),
        ("optimizer_memory", ("m *= 0.9\n", "kept.append(m.copy()); m *= 0.9\n")),
        ("softmax_memory", ("along = ", "held = [x.copy() for _ in range(24)]; along = ")),
    ],
)
def test_a_planted_leak_is_slow_and_its_healthy_twin_is_not(name, leak):
    spec = TIMED[name]
    assert verdict.judge_speed(spec, memory_quantities(spec), None)[0].holds
    assert not verdict.judge_speed(spec, memory_quantities(spec, leak), None)[0].holds


def test_a_mask_that_costs_as_much_as_its_use_is_slow():
    spec = TIMED["causal_mask_rebuild"]
    assert [verdict.judge_speed(spec, {"step_ratio": ratio}, None)[0].holds for ratio in (1.2, 2.1)] == [True, False]


@pytest.mark.parametrize(
    "wrong", [("back >= 64", "back > 64"), ("back >= 64", "back >= 63"), ("(back < 0) |", "(back <= 0) |"), ("back < 0", "back <= 0")]
)
def test_an_edge_of_a_mask_that_is_off_by_one_is_noticed(wrong):
    spec = TIMED["causal_mask_rebuild"]
    with np.errstate(invalid="ignore"):
        answer = function_of(spec, wrong)(**as_dtype(spec.tensors, "float32"))
    assert judge(spec, "float32", answer, "numpy").status == "silent"


def test_a_clone_that_shares_its_storage_is_a_documented_choice_of_candle_only():
    spec = SPECS["stale_weights:snapshot"]
    shared = spec.documented["candle"].reference(**spec.tensors)
    assert judge(spec, "float32", shared, "candle").status == "differs"
    assert judge(spec, "float32", shared, "torch").status == "silent"
