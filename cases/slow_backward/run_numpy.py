"""One pre-norm transformer block and its backward by hand, the control: other algebra and other orders of sums than the reference's.

Tokens are flat, heads come one at a time, gate and up are one product; softmax's backward takes its row term from sum(da * a), not
sum(dp * p); the normalisation's backward works on x, not on the normalised x. The weights are [in, out].
"""

import numpy as np

HEADS, EPS = 4, 1e-5


def _rms_norm(x, gain):
    r = ((x**2).sum(1, keepdims=True) / x.shape[1] + EPS) ** -0.5
    return x * (r * gain), r


def _rms_norm_backward(dh, x, r, gain):
    g = dh * gain
    return r * g - x * (r**3 * (g * x).sum(1, keepdims=True) / x.shape[1]), ((x * r) * dh).sum(0)


def _heads(B, T, C):
    """Rows of a batch entry with the columns of one head's q, k and v."""
    for row in range(0, B * T, T):
        for c in range(0, C, C // HEADS):
            yield (slice(row, row + T), *(slice(s * C + c, s * C + c + C // HEADS) for s in range(3)))


def _forward(x, norm1, w_qkv, w_out, norm2, w_gate, w_up, w_down):
    B, T, C = x.shape
    x, w_mlp, scale = x.reshape(B * T, C), np.concatenate([w_gate, w_up], axis=1), (C // HEADS) ** -0.5
    h1, r1 = _rms_norm(x, norm1)
    qkv, a, ps, later = h1 @ w_qkv, np.empty_like(x), [], np.triu(np.ones((T, T), bool), 1)
    for rows, q, k, v in _heads(B, T, C):
        s = qkv[rows, q] @ qkv[rows, k].T * scale
        p = np.exp(np.where(later, -np.inf, s - s.max(1, keepdims=True)))
        ps.append(p / p.sum(1, keepdims=True))
        a[rows, q] = ps[-1] @ qkv[rows, v]
    x2 = x + a @ w_out
    h2, r2 = _rms_norm(x2, norm2)
    gate, up = np.split(h2 @ w_mlp, 2, axis=1)
    sigmoid = 1 / (1 + np.exp(-gate))
    m = gate * sigmoid * up
    return (x2 + m @ w_down).reshape(B, T, C), (w_mlp, scale, x, h1, r1, qkv, a, ps, x2, h2, r2, gate, up, sigmoid, m)


def forward(dy, **tensors):  # noqa: ARG001  only the step needs dy
    return {"y": _forward(**tensors)[0]}


def step(dy, **tensors):
    y, (w_mlp, scale, x, h1, r1, qkv, a, ps, x2, h2, r2, gate, up, sigmoid, m) = _forward(**tensors)
    (B, T, C), d = dy.shape, dy.reshape(x.shape)
    dm = d @ tensors["w_down"].T
    dmlp = np.concatenate([dm * up * sigmoid * (1 + gate * (1 - sigmoid)), dm * gate * sigmoid], axis=1)
    dx2, dnorm2 = _rms_norm_backward(dmlp @ w_mlp.T, x2, r2, tensors["norm2"])
    dx2 += d
    da, dqkv = dx2 @ tensors["w_out"].T, np.empty_like(qkv)
    for (rows, q, k, v), p in zip(_heads(B, T, C), ps, strict=True):
        ds = p * (da[rows, q] @ qkv[rows, v].T - (da[rows, q] * a[rows, q]).sum(1, keepdims=True)) * scale
        dqkv[rows, q], dqkv[rows, k], dqkv[rows, v] = ds @ qkv[rows, k], ds.T @ qkv[rows, q], p.T @ da[rows, q]
    dx, dnorm1 = _rms_norm_backward(dqkv @ tensors["w_qkv"].T, x, r1, tensors["norm1"])
    dw_gate, dw_up = np.split(h2.T @ dmlp, 2, axis=1)
    weights = {"dw_qkv": h1.T @ dqkv, "dw_out": a.T @ dx2, "dw_gate": dw_gate, "dw_up": dw_up, "dw_down": m.T @ d}
    return {"y": y, "dx": (dx + dx2).reshape(B, T, C), "dnorm1": dnorm1, "dnorm2": dnorm2, **weights}


def gemm(a, b):
    return {"c": a @ b}
