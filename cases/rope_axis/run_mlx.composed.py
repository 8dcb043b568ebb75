import mlx.core as mx


def half_split(q, dy):
    return _value_and_gradient(_half_split, q, dy)


def interleaved(q, dy):
    return _value_and_gradient(_interleaved, q, dy)


def _half_split(q):
    cos, sin = _tables(q)
    a, b = mx.split(q, 2, axis=-1)
    return mx.concatenate((a * cos - b * sin, b * cos + a * sin), axis=-1)


def _interleaved(q):
    cos, sin = _tables(q)
    a, b = q[..., 0::2], q[..., 1::2]
    return mx.stack((a * cos - b * sin, b * cos + a * sin), axis=-1).reshape(q.shape)


def _tables(q_BHTD):
    t, d = q_BHTD.shape[-2:]
    frequency = 10_000.0 ** (-mx.arange(0, d, 2) / d)
    angle_TD = mx.outer(mx.arange(t), frequency)
    return mx.cos(angle_TD).astype(q_BHTD.dtype), mx.sin(angle_TD).astype(q_BHTD.dtype)


def _value_and_gradient(rotate, q, dy):
    (y,), (dq,) = mx.vjp(rotate, [q], [dy])
    return {"y": y, "dq": dq}
