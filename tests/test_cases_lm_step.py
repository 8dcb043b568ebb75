"""lm_step: its gradients against central differences, its control, and the steps that its checks must notice."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from harness.case import as_dtype
from harness.contract import load
from harness.verdict import judge

(SPEC,) = load(Path(__file__).parent.parent / "cases" / "lm_step")
CASE = sys.modules[SPEC.reference.__module__]
TENSORS = as_dtype(SPEC.tensors, "float32")


@pytest.fixture(scope="module")
def control():
    source = importlib.util.spec_from_file_location("run_numpy_lm_step", SPEC.folder / "run_numpy.py")
    module = importlib.util.module_from_spec(source)
    source.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def gradients():
    return CASE.loss_and_gradients(**SPEC.tensors)[1]


@pytest.mark.parametrize("name", CASE.WEIGHTS)
def test_a_gradient_is_the_central_difference_along_it(name, gradients):
    direction = np.random.default_rng(0).standard_normal(gradients[name].shape)
    # A purely random direction is nearly orthogonal to the gradient, and the difference would be rounding.
    direction = gradients[name] / np.linalg.norm(gradients[name]) + 0.3 * direction / np.linalg.norm(direction)
    losses = [CASE.loss_and_gradients(**{**SPEC.tensors, name: SPEC.tensors[name] + h * direction})[0] for h in (1e-4, -1e-4)]
    assert (losses[0] - losses[1]) / 2e-4 == pytest.approx(np.sum(gradients[name] * direction), rel=1e-5)


def test_the_control_agrees(control):
    decided = judge(SPEC, "float32", control.step(**TENSORS), "numpy")
    assert decided.status == "ok", decided.message
    np.testing.assert_array_equal(control.forward(**TENSORS)["loss"], control.step(**TENSORS)["loss"])


def failed(answer):
    return {f.check for f in judge(SPEC, "float32", answer, "").findings if not f.holds}


@pytest.mark.parametrize("name", CASE.WEIGHTS)
def test_a_parameter_that_is_not_stepped_is_seen(name):
    assert failed({**SPEC.want, name: SPEC.tensors[name]}) == {f"{name} close"}


def test_a_step_without_clipping_is_seen(monkeypatch):
    assert SPEC.want["gradient_norm"] > 2 * CASE.CLIP
    monkeypatch.setattr(CASE, "CLIP", 1e9)
    assert failed(CASE.reference(**SPEC.tensors)) >= {f"{name} close" for name in ("w_qkv", "w_gate_up", "w_down", "head")}


def test_targets_that_are_not_shifted_are_seen():
    assert "loss close" in failed(CASE.reference(**{**SPEC.tensors, "target": SPEC.tensors["ids"]}))
