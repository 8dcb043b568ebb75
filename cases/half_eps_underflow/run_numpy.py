"""In float64 from the first operation to the last; Adam's moments of all steps at once."""

import numpy as np


def rms_norm(x, w, dy):
    return _norm(x, w, dy, np.eye(x.shape[-1]))


def layer_norm(x, w, b, dy):
    answer = _norm(x, w, dy, np.eye(x.shape[-1]) - 1 / x.shape[-1])
    y = answer["y"].astype(np.float64) + b
    return answer | {"y": y.astype(x.dtype), "db": np.einsum("td->d", dy.astype(np.float64)).astype(x.dtype)}


def adam(w, g):
    wide = g.astype(np.float64).reshape(3, -1)
    # Both moments of all steps at once: sums of what each gradient is worth at each step, corrected.
    age = np.subtract.outer(np.arange(3), np.arange(3))
    first, second = (np.tril(beta ** np.maximum(age, 0)) for beta in (0.9, 0.999))
    first, second = first / first.sum(1, keepdims=True), second / second.sum(1, keepdims=True)
    moved = (first @ wide) / (np.sqrt(second @ wide**2) + 1e-8)
    return {"after": (w.astype(np.float64) - 2.0**-4 * moved.sum(0).reshape(w.shape)).astype(w.dtype)}


def _norm(x, w, dy, centre):
    dtype = x.dtype
    x, w, dy = x.astype(np.float64), w.astype(np.float64), dy.astype(np.float64)
    c = x @ centre
    square = np.einsum("td,td->t", c, c)[:, None] + x.shape[-1] * 2.0**-26
    scale = np.sqrt(x.shape[-1] / square)
    dx = scale * ((dy * w) @ centre - c * np.einsum("td,d,td->t", dy, w, c)[:, None] / square)
    answer = {"y": w * (c * scale), "dx": dx, "dw": np.einsum("td,td->d", dy, c * scale)}
    return {name: value.astype(dtype) for name, value in answer.items()}
