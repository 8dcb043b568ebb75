"""Forward and backward by hand, sums in another order than the reference's."""

import numpy as np


def slice_set(a, b, dy):
    y = np.empty_like(dy)
    y[:, :3], y[:, 3:] = a, b
    da, db = np.split(dy, [3], axis=1)
    return {"y": y, "da": da, "db": db}


def masked_loss(x, w, dy):
    y, kept = x * w, dy.copy()
    y[0], kept[0] = 0, 0
    return {"y": y, "dx": kept * w, "dw": np.einsum("tc,tc->c", x, kept)}


def kv_cache(q, k, v, dy):
    return _attention(q, k, v, dy)


def concat_kv_cache(q, k, v, dy):
    return _attention(q, k, v, dy)


def quantized(x, w, dy):
    return {"y": np.einsum("to,co->tc", x, w), "dx": np.einsum("tc,co->to", dy, w)}


def gradient_penalty(x, w, v):
    return {"y": w * x * (2 * x) * (2 * x), "dx": v * w * 3 * (2 * x) * (2 * x), "dw": v * x * (2 * x) * (2 * x)}


def _attention(q, k, v, dy):
    dk = np.einsum("bhtd,bhse,bhte->bhsd", q, v, dy)
    dv = np.einsum("bhtd,bhsd,bhte->bhse", q, k, dy)
    dq = np.einsum("bhte,bhse,bhsd->bhtd", dy, v, k)
    return {"y": np.einsum("bhtd,bhsd,bhse->bhte", q, k, v), "dq": dq, "dk": dk, "dv": dv}
