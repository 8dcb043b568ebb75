"""tinygrad has no rotary operator; this is the formula as its users write it, with float32 tables."""

from tinygrad import Tensor


def half_split(q, dy):
    return _value_and_gradient(_half_split, q, dy)


def interleaved(q, dy):
    return _value_and_gradient(_interleaved, q, dy)


def _half_split(q):
    cos, sin = _tables(q)
    a, b = q.chunk(2, dim=-1)
    return (a * cos - b * sin).cat(b * cos + a * sin, dim=-1)


def _interleaved(q):
    cos, sin = _tables(q)
    a, b = q[..., 0::2], q[..., 1::2]
    return (a * cos - b * sin).stack(b * cos + a * sin, dim=-1).flatten(-2)


def _tables(q_BHTD):
    t, d = q_BHTD.shape[-2:]
    frequency = 10_000.0 ** (-Tensor.arange(0, d, 2) / d)
    angle_TD = Tensor.arange(t).unsqueeze(1) * frequency
    return angle_TD.cos().cast(q_BHTD.dtype), angle_TD.sin().cast(q_BHTD.dtype)


def _value_and_gradient(rotate, q, dy):
    y = rotate(q)
    (dq,) = y.gradient(q, gradient=dy)
    return {"y": y, "dq": dq}
