"""The step by hand: tokens flat outside the attention, heads one by one, rotation as a product of complex numbers."""

import numpy as np

HEADS, EPS = 4, 2.0**-17
LAYER = ("norm1", "w_qkv", "w_out", "norm2", "w_gate_up", "w_down")


def _norm(x, gain):
    r = ((x * x).sum(1, keepdims=True) / x.shape[1] + EPS) ** -0.5
    return x * (r * gain), r


def _norm_backward(dh, x, r, gain):
    g = dh * gain
    return r * g - x * (r**3 * (g * x).sum(1, keepdims=True) / x.shape[1]), (x * r * dh).sum(0)


def _turn(rows, sign):
    T, D = rows.shape
    turn = np.exp(sign * 1j * np.arange(T)[:, None] * 10000.0 ** (-np.arange(0, D, 2) / D)).astype(np.complex64)
    return np.ascontiguousarray(np.ascontiguousarray(rows).view(np.complex64) * turn).view(np.float32)


def _heads(B, T, C):
    for row in range(0, B * T, T):
        for c in range(0, C, C // HEADS):
            yield (slice(row, row + T), *(slice(s * C + c, s * C + c + C // HEADS) for s in range(3)))


def _layer(x, shape, norm1, w_qkv, w_out, norm2, w_gate_up, w_down):
    (B, T, C), scale = shape, (shape[2] // HEADS) ** -0.5
    h1, r1 = _norm(x, norm1)
    qkv, a, ps, later = h1 @ w_qkv, np.empty_like(x), [], np.triu(np.ones((T, T), bool), 1)
    for rows, q, k, v in _heads(B, T, C):
        qkv[rows, q], qkv[rows, k] = _turn(qkv[rows, q], 1), _turn(qkv[rows, k], 1)
        s = qkv[rows, q] @ qkv[rows, k].T * scale
        p = np.exp(np.where(later, -np.inf, s - s.max(1, keepdims=True)))
        ps.append(p / p.sum(1, keepdims=True))
        a[rows, q] = ps[-1] @ qkv[rows, v]
    x2 = x + a @ w_out
    h2, r2 = _norm(x2, norm2)
    gate, up = np.split(h2 @ w_gate_up, 2, axis=1)
    sigmoid = 1 / (1 + np.exp(-gate))
    return x2 + (gate * sigmoid * up) @ w_down, (x, h1, r1, qkv, a, ps, x2, h2, r2, gate, up, sigmoid)


def _layer_backward(d, saved, shape, norm1, w_qkv, w_out, norm2, w_gate_up, w_down):
    x, h1, r1, qkv, a, ps, x2, h2, r2, gate, up, sigmoid = saved
    dm, scale = d @ w_down.T, (shape[2] // HEADS) ** -0.5
    dgate_up = np.concatenate([dm * up * sigmoid * (1 + gate * (1 - sigmoid)), dm * gate * sigmoid], axis=1)
    dx2, dnorm2 = _norm_backward(dgate_up @ w_gate_up.T, x2, r2, norm2)
    dx2 += d
    da, dqkv = dx2 @ w_out.T, np.empty_like(qkv)
    for (rows, q, k, v), p in zip(_heads(*shape), ps, strict=True):
        ds = p * (da[rows, q] @ qkv[rows, v].T - (da[rows, q] * a[rows, q]).sum(1, keepdims=True)) * scale
        dqkv[rows, q], dqkv[rows, k] = _turn(ds @ qkv[rows, k], -1), _turn(ds.T @ qkv[rows, q], -1)
        dqkv[rows, v] = p.T @ da[rows, q]
    dx, dnorm1 = _norm_backward(dqkv @ w_qkv.T, x, r1, norm1)
    return dx + dx2, (dnorm1, h1.T @ dqkv, a.T @ dx2, dnorm2, h2.T @ dgate_up, (gate * sigmoid * up).T @ d)


def _forward(ids, target, embedding, norm, head, **layers):
    x, saved, shape = embedding[ids.ravel()], [], (*ids.shape, embedding.shape[1])
    for weights in zip(*(layers[name] for name in LAYER), strict=True):
        x, kept = _layer(x, shape, *weights)
        saved.append(kept)
    h, r = _norm(x, norm)
    logits = h @ head
    p = np.exp(logits - logits.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    return -np.log(p[np.arange(len(p)), target.ravel()]).mean(keepdims=True), (x, saved, shape, h, r, p)


def forward(**tensors):
    return {"loss": _forward(**tensors)[0]}


def step(ids, target, **weights):
    loss, (x, saved, shape, h, r, p) = _forward(ids, target, **weights)
    p[np.arange(len(p)), target.ravel()] -= 1
    p /= np.float32(len(p))
    d, dnorm = _norm_backward(p @ weights["head"].T, x, r, weights["norm"])
    grads = {
        "norm": dnorm,
        "head": h.T @ p,
        **{name: np.empty_like(weights[name]) for name in LAYER},
        "embedding": np.zeros_like(weights["embedding"]),
    }
    for i in reversed(range(len(saved))):
        d, found = _layer_backward(d, saved[i], shape, *(weights[name][i] for name in LAYER))
        for name, grad in zip(LAYER, found, strict=True):
            grads[name][i] = grad
    np.add.at(grads["embedding"], ids.ravel(), d)
    norm = np.sqrt(sum(np.vdot(g, g) for g in grads.values()))
    new = {}
    for name, w in weights.items():
        g = grads[name] / max(norm, np.float32(1))
        new[name] = w - w * np.float32(2.0**-11) - np.float32(2.0**-7) * g / (np.abs(g) + np.float32(EPS))
    return {"loss": loss, "gradient_norm": norm.reshape(1), **new}


def gemm(a, b):
    return {"c": a @ b}
