"""The trainer keeps [batch, time, heads, width]: a tensor with its heads first is turned through a view."""

from trainer.model import rotate


def half_split(q, dy, cos, sin):
    q = q.detach().requires_grad_()
    y = rotate(q.transpose(1, 2), cos, sin).transpose(1, 2)
    y.backward(dy)
    return {"y": y, "dq": q.grad}


def half_split_time_first(q, dy, cos, sin):
    q = q.detach().requires_grad_()
    y = rotate(q, cos, sin)
    y.backward(dy)
    return {"y": y, "dq": q.grad}
