import mlx.core as mx


def slice_set(a, b, dy):
    (y,), (da, db) = mx.vjp(lambda a, b: _written(dy, ((0, 3, a), (3, 8, b))), [a, b], [dy])
    return {"y": y, "da": da, "db": db}


def masked_loss(x, w, dy):
    def masked(x, w):
        y = x * w
        y[:1] = 0
        return y

    (y,), (dx, dw) = mx.vjp(masked, [x, w], [dy])
    return {"y": y, "dx": dx, "dw": dw}


def kv_cache(q, k, v, dy):
    def through_cache(x):
        cache = mx.zeros_like(x)
        cache[:, :, :4] = x[:, :, :4]
        cache[:, :, 4:] = x[:, :, 4:]
        return cache

    return _attention(q, k, v, dy, through_cache)


def concat_kv_cache(q, k, v, dy):
    return _attention(q, k, v, dy, lambda x: mx.concatenate([x[:, :, :4], x[:, :, 4:]], axis=2))


def gradient_penalty(x, w, v):
    def first(x, w):
        return mx.grad(lambda x: (w * x.square().square()).sum())(x)

    (y,), (dx, dw) = mx.vjp(first, [x, w], [v])
    return {"y": y, "dx": dx, "dw": dw}


def _written(like, parts):
    y = mx.zeros_like(like)
    for start, end, part in parts:
        y[:, start:end] = part
    return y


def _attention(q, k, v, dy, through_cache):
    (y,), (dq, dk, dv) = mx.vjp(lambda q, k, v: q @ through_cache(k).swapaxes(2, 3) @ through_cache(v), [q, k, v], [dy])
    return {"y": y, "dq": dq, "dk": dk, "dv": dv}
