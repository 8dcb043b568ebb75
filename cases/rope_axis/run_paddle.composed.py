"""The formula as users of paddle's CPU write it, with float32 tables."""

import paddle


def half_split(q, dy):
    return _value_and_gradient(q, dy, _half_split)


def interleaved(q, dy):
    return _value_and_gradient(q, dy, _interleaved)


def _half_split(q):
    cos, sin = _tables(q)
    a, b = q.chunk(2, axis=-1)
    return paddle.concat((a * cos - b * sin, b * cos + a * sin), axis=-1)


def _interleaved(q):
    cos, sin = _tables(q)
    a, b = q[..., 0::2], q[..., 1::2]
    return paddle.stack((a * cos - b * sin, b * cos + a * sin), axis=-1).flatten(-2)


def _tables(q_BHTD):
    t, d = q_BHTD.shape[-2:]
    frequency = 10_000.0 ** (-paddle.arange(0, d, 2, dtype="float32") / d)
    angle_TD = paddle.outer(paddle.arange(t, dtype="float32"), frequency)
    return angle_TD.cos().astype(q_BHTD.dtype), angle_TD.sin().astype(q_BHTD.dtype)


def _value_and_gradient(q, dy, rotate):
    q = q.detach()
    q.stop_gradient = False
    y = rotate(q)
    (dq,) = paddle.grad([y], [q], [dy])
    return {"y": y, "dq": dq}
