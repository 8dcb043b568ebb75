"""The block and its backward by hand, tokens flat outside the attention."""

import numpy as np

HEADS, EPS = 2, 2.0**-17


def _norm(x, w, b):
    d = x - x.mean(1, keepdims=True)
    r = 1 / np.sqrt(np.square(d).mean(1, keepdims=True) + x.dtype.type(EPS))
    return d * r * w + b, d * r, r


def _norm_backward(dh, n, r, w):
    g = dh * w
    dx = r * (g - g.mean(1, keepdims=True) - n * (g * n).mean(1, keepdims=True))
    return dx, (dh * n).sum(0), dh.sum(0)


def run(x, norm1_w, norm1_b, w_q, w_k, w_v, w_o, norm2_w, norm2_b, w_up, b_up, w_down, b_down, dy):
    (B, T, C), D = x.shape, x.shape[2] // HEADS
    x, d = x.reshape(B * T, C), dy.reshape(B * T, C)
    h1, n1, r1 = _norm(x, norm1_w, norm1_b)
    q, k, v = h1 @ w_q.T, h1 @ w_k.T, h1 @ w_v.T
    heads = [(slice(b * T, b * T + T), slice(i * D, i * D + D)) for b in range(B) for i in range(HEADS)]
    a, later, probabilities = np.empty_like(x), np.triu(np.ones((T, T), bool), 1), []
    for at in heads:
        s = np.where(later, -np.inf, q[at] @ k[at].T / D**0.5).astype(x.dtype)
        e = np.exp(s - s.max(1, keepdims=True))
        probabilities.append(e / e.sum(1, keepdims=True))
        a[at] = probabilities[-1] @ v[at]
    x2 = x + a @ w_o.T
    h2, n2, r2 = _norm(x2, norm2_w, norm2_b)
    z = h2 @ w_up.T + b_up
    t = np.tanh((2 / np.pi) ** 0.5 * (z + 0.044715 * z**3))
    m = z * (1 + t) / 2

    dz = d @ w_down * ((1 + t) / 2 + z * (1 - t * t) / 2 * (2 / np.pi) ** 0.5 * (1 + 3 * 0.044715 * z * z))
    dx2, dnorm2_w, dnorm2_b = _norm_backward(dz @ w_up, n2, r2, norm2_w)
    dx2 += d
    da, dq, dk, dv = dx2 @ w_o, np.empty_like(q), np.empty_like(k), np.empty_like(v)
    for at, p in zip(heads, probabilities, strict=True):
        ds = p * (da[at] @ v[at].T - (da[at] * a[at]).sum(1, keepdims=True)) / D**0.5
        dq[at], dk[at], dv[at] = ds @ k[at], ds.T @ q[at], p.T @ da[at]
    dx, dnorm1_w, dnorm1_b = _norm_backward(dq @ w_q + dk @ w_k + dv @ w_v, n1, r1, norm1_w)
    attention = {"dw_q": dq.T @ h1, "dw_k": dk.T @ h1, "dw_v": dv.T @ h1, "dw_o": dx2.T @ a}
    norms = {"dnorm1_w": dnorm1_w, "dnorm1_b": dnorm1_b, "dnorm2_w": dnorm2_w, "dnorm2_b": dnorm2_b}
    mlp = {"dw_up": dz.T @ h2, "db_up": dz.sum(0), "dw_down": d.T @ m, "db_down": d.sum(0)}
    y = x2 + m @ w_down.T + b_down
    return {"y": y.reshape(B, T, C), "dx": (dx + dx2).reshape(B, T, C), **norms, **attention, **mlp}
