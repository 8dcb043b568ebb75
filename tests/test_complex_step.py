"""Complex steps: exact where the derivative is known, and refused in a type without complex numbers."""

import ml_dtypes
import numpy as np
import pytest

from harness.complex_step import gradients


def loss(x, w):
    return np.sum(np.tanh(x @ w) ** 2 / (1 + np.exp(-x.sum())))


def test_gradients_are_exact():
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((2, 3)), rng.standard_normal((3, 4))
    got = gradients(loss, {"x": x, "w": w}, ["w"])
    y, gate = np.tanh(x @ w), 1 / (1 + np.exp(-x.sum()))
    assert set(got) == {"dw"}
    np.testing.assert_allclose(got["dw"], x.T @ (2 * y * (1 - y**2)) * gate, rtol=1e-14)


def test_float32_stays_float32():
    got = gradients(loss, {"x": np.ones((1, 2), np.float32), "w": np.ones((2, 1), np.float32)}, ["x", "w"])
    assert {g.dtype for g in got.values()} == {np.dtype(np.float32)}
    assert np.all(np.isfinite(got["dx"]))
    assert np.all(got["dx"] != 0)


def test_a_type_without_complex_numbers_is_refused():
    with pytest.raises(TypeError, match="bfloat16"):
        gradients(loss, {"x": np.ones((1, 1), ml_dtypes.bfloat16), "w": np.ones((1, 1))}, ["x"])
