import mlx.core as mx


def half_split(q, dy):
    return _value_and_gradient(_half_split, q, dy)


def interleaved(q, dy):
    return _value_and_gradient(_interleaved, q, dy)


def half_split_time_first(q, dy):
    return _value_and_gradient(_half_split, q, dy)


def interleaved_time_first(q, dy):
    return _value_and_gradient(_interleaved, q, dy)


def _half_split(q):
    return mx.fast.rope(q, q.shape[-1], traditional=False, base=10_000.0, scale=1.0, offset=0)


def _interleaved(q):
    return mx.fast.rope(q, q.shape[-1], traditional=True, base=10_000.0, scale=1.0, offset=0)


def _value_and_gradient(rotate, q, dy):
    (y,), (dq,) = mx.vjp(rotate, [q], [dy])
    return {"y": y, "dq": dq}
