"""paddle's operator documents [batch, time, heads, width]: a tensor with its heads first is turned to it and back."""

import paddle
from paddle.incubate.nn.functional import fused_rotary_position_embedding


def half_split(q, dy):
    return _value_and_gradient(q, dy, lambda q: _half_split(q.transpose([0, 2, 1, 3])).transpose([0, 2, 1, 3]))


def interleaved(q, dy):
    return _value_and_gradient(q, dy, lambda q: _interleaved(q.transpose([0, 2, 1, 3])).transpose([0, 2, 1, 3]))


def half_split_time_first(q, dy):
    return _value_and_gradient(q, dy, _half_split)


def interleaved_time_first(q, dy):
    return _value_and_gradient(q, dy, _interleaved)


def _half_split(q_BTHD):
    t, d = q_BTHD.shape[1], q_BTHD.shape[3]
    angle_TD = paddle.outer(paddle.arange(t, dtype="float32"), 10_000.0 ** (-paddle.arange(0, d, 2, dtype="float32") / d)).tile([1, 2])
    sin, cos = angle_TD.sin().astype(q_BTHD.dtype), angle_TD.cos().astype(q_BTHD.dtype)
    return fused_rotary_position_embedding(q_BTHD, sin=sin, cos=cos, use_neox_rotary_style=False)[0]


def _interleaved(q_BTHD):
    return fused_rotary_position_embedding(q_BTHD, use_neox_rotary_style=True)[0]  # "every two adjacent numbers"


def _value_and_gradient(q, dy, rotate):
    q = q.detach()
    q.stop_gradient = False
    y = rotate(q)
    (dq,) = paddle.grad([y], [q], [dy])
    return {"y": y, "dq": dq}
