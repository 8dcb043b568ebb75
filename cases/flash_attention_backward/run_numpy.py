"""Attention row by row: each query against the keys it sees, its softmax's Jacobian written out; in float64, rounded once."""

import numpy as np


def full(q, k, v, dy):
    return _answer(q, k, v, dy, lambda _: slice(None))


def causal(q, k, v, dy):
    return _answer(q, k, v, dy, lambda t: slice(t + 1))


def masked(q, k, v, dy):
    return _answer(q, k, v, dy, lambda t: slice(max(0, t - 2), t + 1))


def cuda(q, k, v, dy):
    return causal(q, k, v, dy)


def _answer(q, k, v, dy, seen):
    dtype = q.dtype
    q, k, v, dy = (x.astype(np.float64) for x in (q, k, v, dy))
    y, dq, dk, dv = np.zeros_like(dy), np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    root = np.sqrt(q.shape[-1])
    for b, t, h in np.ndindex(q.shape[:3]):
        keys, values = k[b, seen(t), h], v[b, seen(t), h]
        scores = keys @ q[b, t, h] / root
        p = np.exp(scores - np.logaddexp.reduce(scores))
        ds = (np.diag(p) - np.outer(p, p)) @ (values @ dy[b, h, t]) / root
        y[b, h, t] = p @ values
        dq[b, t, h] = ds @ keys
        dk[b, seen(t), h] += np.outer(ds, q[b, t, h])
        dv[b, seen(t), h] += np.outer(p, dy[b, h, t])
    return {"y": y.astype(dtype), "dq": dq.astype(dtype), "dk": dk.astype(dtype), "dv": dv.astype(dtype)}
