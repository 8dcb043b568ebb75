"""Forward and backward by hand."""

import numpy as np


def tied(ids, target, table, w):
    rows, ids, target = np.arange(ids.size), ids.ravel(), target.ravel()
    z = np.tanh(table[ids] @ w.T)
    logits = z @ table.T
    e = np.exp(logits - logits.max(1, keepdims=True))
    p = e / e.sum(1, keepdims=True)
    loss = -np.mean(np.log(p[rows, target]))
    dlogits = p.copy()
    dlogits[rows, target] -= 1
    dlogits /= p.dtype.type(len(rows))
    dz = dlogits @ table * (1 - z * z)
    dtable = dlogits.T @ z
    np.add.at(dtable, ids, dz @ w)
    return {"loss": loss.reshape(1), "dtable": dtable, "dw": dz.T @ table[ids]}


def _attention_backward(q, k, v, p, dy, scale):
    dp = dy @ v.swapaxes(-1, -2)
    ds = p * (dp - (dp * p).sum(-1, keepdims=True)) * scale
    return ds @ k, ds.swapaxes(-1, -2) @ q, p.swapaxes(-1, -2) @ dy


def _softmax(scores):
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def tiled_heads(q, k, v, dy):
    k, v = np.tile(k, (1, 2, 1, 1)), np.tile(v, (1, 2, 1, 1))
    p = _softmax(q @ k.swapaxes(-1, -2) * q.dtype.type(0.5))
    dq, dk, dv = _attention_backward(q, k, v, p, dy, q.dtype.type(0.5))
    return {"loss": np.sum((p @ v) * dy).reshape(1), "dq": dq, "dk": dk[:, :2] + dk[:, 2:], "dv": dv[:, :2] + dv[:, 2:]}


def cast(alone, beside, dy):
    loss = np.sum(alone * alone * dy) + np.sum(beside * beside * beside * dy)
    return {"loss": loss.reshape(1), "dalone": 2 * dy * alone, "dbeside": 3 * dy * beside * beside}


def _turn(x, sign):
    T, D = x.shape[-2:]
    turn = np.exp(sign * 1j * np.arange(T)[:, None] / 10000 ** (np.arange(D // 2) * 2 / D)).astype(np.result_type(x.dtype, np.complex64))
    return np.ascontiguousarray(np.ascontiguousarray(x).view(turn.dtype) * turn).view(x.dtype)


def llama_attention(x, norm, w_q, w_k, w_v, dy):
    B, T, C = x.shape
    r = 1 / np.sqrt(np.mean(x * x, -1, keepdims=True) + x.dtype.type(1e-5))
    h = x * r * norm
    q, k, v = ((h @ w.T).reshape(B, T, 2, C // 2).swapaxes(1, 2) for w in (w_q, w_k, w_v))
    q, k = _turn(q, 1), _turn(k, 1)
    scale = x.dtype.type((C // 2) ** -0.5)
    p = _softmax(np.where(np.tri(T, dtype=bool), q @ k.swapaxes(-1, -2) * scale, x.dtype.type(-np.inf)))
    da = dy.reshape(B, T, 2, C // 2).swapaxes(1, 2)
    dq, dk, dv = _attention_backward(q, k, v, p, da, scale)
    dq, dk, dv = (g.swapaxes(1, 2).reshape(B * T, C) for g in (_turn(dq, -1), _turn(dk, -1), dv))
    dh, rows = (dq @ w_q + dk @ w_k + dv @ w_v).reshape(B, T, C), h.reshape(B * T, C)
    g, n = dh * norm, x * r
    dx = r * (g - n * np.mean(g * n, -1, keepdims=True))
    weights = {"dw_q": dq.T @ rows, "dw_k": dk.T @ rows, "dw_v": dv.T @ rows}
    return {"loss": np.sum((p @ v) * da).reshape(1), "dx": dx, "dnorm": np.sum(dh * n, axis=(0, 1)), **weights}


def shared_layer(x, w, dy):
    states = [x]
    for _ in range(3):
        states.append(states[-1] + np.tanh(states[-1] @ w.T))
    d, dw = dy, np.zeros_like(w)
    for before, after in zip(states[2::-1], states[:0:-1], strict=True):
        dz = d * (1 - (after - before) ** 2)
        dw += dz.T @ before
        d = d + dz @ w
    return {"loss": np.sum(states[-1] * dy).reshape(1), "dx": d, "dw": dw}
