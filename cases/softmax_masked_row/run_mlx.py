import mlx.core as mx


def lowest(q, k, v, dy, seen):
    mask = mx.where(seen == 0, mx.finfo(q.dtype).min, 0.0)
    return _answer(q, k, v, dy, lambda q, k, v: mx.softmax(q @ k.swapaxes(2, 3) * 0.5 + mask, axis=-1) @ v)


def fused(q, k, v, dy, seen):
    return _answer(q, k, v, dy, lambda q, k, v: mx.fast.scaled_dot_product_attention(q, k, v, scale=0.5, mask=seen != 0))


def _answer(q, k, v, dy, attend):
    (y,), (dq, dk, dv) = mx.vjp(attend, [q, k, v], [dy])
    return {"y": y[:, :, mx.array([0, 1, 3, 4])], "dq": dq, "dk": dk, "dv": dv}
