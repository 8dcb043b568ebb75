"""The trainer keeps [batch, time, heads, width]: a tensor with its heads first is turned through a view."""

from trainer.model import angles, rotate


def half_split(q, dy):
    q = q.detach().requires_grad_()
    y = _turned(q.transpose(1, 2)).transpose(1, 2)
    y.backward(dy)
    return {"y": y, "dq": q.grad}


def half_split_time_first(q, dy):
    q = q.detach().requires_grad_()
    y = _turned(q)
    y.backward(dy)
    return {"y": y, "dq": q.grad}


def _turned(q_BTNH):
    return rotate(q_BTNH, *angles(q_BTNH.shape[1], q_BTNH.shape[3], 10_000.0))
