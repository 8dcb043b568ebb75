"""Every array is a copy, except where a view is asked for."""

import numpy as np


def set_between(x, new, dy):
    used = x.copy()
    y = used * used
    x = x.copy()
    x[:] = new
    return {"y": y, "dx": dy * (used + used), "after": x}


def snapshot(w, g):
    before, w = w.copy(), w.copy()
    w -= g * np.float32(0.125)
    return {"before": before, "after": w}


def cache_clone(prompt, first, second):
    cache = np.zeros((1, 2, 8, 4), prompt.dtype)
    cache[:, :, :3] = prompt
    other = cache.copy()
    cache[:, :, 3:4], other[:, :, 3:4] = first, second
    return {"a": cache[:, :, :4], "b": other[:, :, :4]}


def tied(ids, w, dy):
    w = w.copy()
    onehot = (ids[:, None] == np.arange(len(w))).astype(w.dtype)
    y = onehot @ (w @ w.T)
    dw = (onehot.T @ dy + (onehot.T @ dy).T) @ w
    w -= dw * np.float32(0.125)
    return {"y": y, "dw": dw, "after": w, "y_after": onehot @ (w @ w.T)}


def kept_view(x, w, g):
    w = w.copy()
    kept = w.T
    w -= g * np.float32(0.125)
    return {"y": np.einsum("td,dv->tv", x, kept)}


def race(x, w):
    return {"y": np.einsum("td,sdv->stv", x, w)}
