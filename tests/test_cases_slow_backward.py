"""slow_backward: its reference against central differences, its healthy twin, and the defects that its checks and limits must notice."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from harness.case import as_dtype
from harness.contract import load, validate
from harness.verdict import judge, judge_speed

(SPEC,) = load(Path(__file__).parent.parent / "cases" / "slow_backward")
CASE = sys.modules[SPEC.reference.__module__]
GRADIENTS = [name for name in SPEC.want if name.startswith("d")]


@pytest.fixture(scope="module")
def twin():
    path = SPEC.folder / "run_numpy.py"
    source = importlib.util.spec_from_file_location("run_numpy_slow_backward", path)
    module = importlib.util.module_from_spec(source)
    source.loader.exec_module(module)
    return module


def slope(tensors, name, direction, step):
    """d sum(y * dy) along ``direction`` of one input, by central difference."""

    def loss(sign):
        return np.sum(SPEC.reference(**{**tensors, name: tensors[name] + sign * step * direction})["y"] * tensors["dy"])

    return (loss(1) - loss(-1)) / (2 * step)


def test_valid():
    validate(SPEC)
    assert set(SPEC.want) == {"y", *(f"d{name}" for name in SPEC.tensors if name != "dy")}
    assert {check.output for check in SPEC.checks} == set(SPEC.want)


@pytest.mark.parametrize("name", GRADIENTS)
def test_reference_gradient_is_the_central_difference_along_random_directions(name):
    rng = np.random.default_rng(0)
    of = name[1:]
    for _ in range(2):
        direction = rng.standard_normal(SPEC.tensors[of].shape)
        direction *= np.linalg.norm(SPEC.want[name]) / np.linalg.norm(direction)  # so that the step's size does not depend on the input's
        direction += SPEC.want[name]  # a purely random one is nearly orthogonal to the gradient and would cancel
        direction /= np.linalg.norm(direction)
        want = np.sum(SPEC.want[name] * direction)
        # Third derivatives cost step^2, rounding 1e-16 |loss| / step: 1e-4 balances both near 1e-8.
        assert slope(SPEC.tensors, of, direction, 1e-4) == pytest.approx(want, rel=1e-6)


def test_reference_gradient_is_the_central_difference_of_every_element_of_a_small_block():
    rng = np.random.default_rng(1)
    C, F = 8, 12
    shapes = {"x": (2, 5, C), "norm1": (C,), "w_qkv": (C, 3 * C), "w_out": (C, C), "norm2": (C,), "w_gate": (C, F), "w_up": (C, F)}
    tensors = {name: rng.standard_normal(shape) for name, shape in {**shapes, "w_down": (F, C), "dy": (2, 5, C)}.items()}
    want = SPEC.reference(**tensors)
    for name in GRADIENTS:
        of = name[1:]
        got = np.empty_like(tensors[of])
        for place in np.ndindex(got.shape):
            unit = np.zeros_like(got)
            unit[place] = 1
            got[place] = slope(tensors, of, unit, 1e-5)
        np.testing.assert_allclose(got, want[name], rtol=1e-6, atol=1e-6 * np.abs(want[name]).max(), err_msg=name)


def test_numpy_twin_is_right_in_float32_and_closer_in_float64(twin):
    answer = twin.step(**as_dtype(SPEC.tensors, "float32"))
    assert all(value.dtype == np.float32 for value in answer.values())
    assert judge(SPEC, "float32", answer, "numpy").status == "ok"
    np.testing.assert_array_equal(twin.forward(**as_dtype(SPEC.tensors, "float32"))["y"], answer["y"])
    exact = twin.step(**SPEC.tensors)
    for name, value in SPEC.want.items():
        assert np.linalg.norm(exact[name] - value) <= 1e-13 * np.linalg.norm(value), name


@pytest.mark.parametrize("name", GRADIENTS)
def test_a_gradient_lost_or_one_element_wrong_by_two_percent_is_silent(name):
    assert judge(SPEC, "float32", {k: v for k, v in SPEC.want.items() if k != name}, "any").status == "silent"
    wrong = SPEC.want[name].copy()
    wrong[(-1,) * wrong.ndim] += 0.02 * np.sqrt(np.mean(wrong**2))
    assert judge(SPEC, "float32", {**SPEC.want, name: wrong}, "any").status == "silent"


def test_attention_that_sees_the_future_is_silent(monkeypatch):
    monkeypatch.setattr(CASE.np, "tri", lambda n, dtype: np.ones((n, n), dtype))
    assert judge(SPEC, "float32", SPEC.reference(**SPEC.tensors), "any").status == "silent"


def test_flops_are_those_of_the_products(twin, monkeypatch):
    """Counted by running the numpy twin on arrays that count their products."""
    counted = []

    class Counting(np.ndarray):
        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            plain = [np.asarray(i).view(np.ndarray) if isinstance(i, np.ndarray) else i for i in inputs]
            kwargs["out"] = tuple(np.asarray(o).view(np.ndarray) for o in kwargs["out"]) if kwargs.get("out") else None
            if ufunc is np.matmul:
                counted.append(2 * plain[0].shape[0] * plain[0].shape[1] * plain[1].shape[1])
            result = getattr(ufunc, method)(*plain, **{k: v for k, v in kwargs.items() if v is not None})
            return result.view(Counting) if isinstance(result, np.ndarray) else result

    joined = np.concatenate  # loses the subclass
    monkeypatch.setattr(np, "concatenate", lambda arrays, axis: joined([np.asarray(a) for a in arrays], axis=axis).view(Counting))
    tensors = {name: value.view(Counting) for name, value in SPEC.tensors.items()}
    for function in ("forward", "step"):
        counted.clear()
        getattr(twin, function)(**tensors)
        assert sum(counted) == SPEC.case.timing.flops[function], function


def speeds(backward, gemm, memory):
    return {"backward_ratio": backward, "backward_gemm_ratio": gemm, "memory_ratio": memory}


@pytest.mark.parametrize(
    ("mine", "torch", "held"),
    [
        (speeds(2.4, 1.56, 8.9), speeds(2.23, 1.28, 3.29), [True, True, True]),  # candle 0.11.1, measured
        (
            speeds(2.58, 1.41, 5.28),
            speeds(2.23, 1.28, 3.29),
            [True, True, True],
        ),  # mlx 0.32.4: slow, and its backward no slower than the rest
        (speeds(20.0, 12.0, 60.0), speeds(2.23, 1.28, 3.29), [False, False, False]),  # a backward at 3 % under a forward at 30 %
        (speeds(2.0, 12.0, 5.0), speeds(2.23, 1.28, 3.29), [True, False, True]),  # both at 3 %
        (speeds(3.01, 1.93, 1.86), None, [True, True, True]),  # jax 0.10.2, without torch beside it
        (speeds(20.0, 12.0, 60.0), None, [False, False, False]),
    ],
)
def test_limits_accuse_the_defect_and_no_healthy_measurement(mine, torch, held):
    assert [finding.holds for finding in judge_speed(SPEC, mine, torch)] == held
