"""[batch, time, heads, width] turned to the layout that mx.fast.rope documents, and back."""

import mlx.core as mx


def half_split_time_first(q, dy):
    return _value_and_gradient(_half_split, q, dy)


def interleaved_time_first(q, dy):
    return _value_and_gradient(_interleaved, q, dy)


def _half_split(q):
    return _rope(q.swapaxes(1, 2), traditional=False).swapaxes(1, 2)


def _interleaved(q):
    return _rope(q.swapaxes(1, 2), traditional=True).swapaxes(1, 2)


def _rope(q_BHTD, traditional):
    return mx.fast.rope(q_BHTD, q_BHTD.shape[-1], traditional=traditional, base=10_000.0, scale=1.0, offset=0)


def _value_and_gradient(rotate, q, dy):
    (y,), (dq,) = mx.vjp(rotate, [q], [dy])
    return {"y": y, "dq": dq}
