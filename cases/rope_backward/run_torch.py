"""torch has no rotary operator; this is the formula as its users write it."""

import torch


def half_split(q, dy, cos, sin):
    return _answer(q, dy, cos, sin, _halves)


def interleaved(q, dy, cos, sin):
    return _answer(q, dy, cos, sin, _neighbours)


def half_split_time_first(q, dy, cos, sin):
    return _answer(q, dy, cos[:, None], sin[:, None], _halves)


def _halves(q, cos, sin):
    a, b = q.chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)


def _neighbours(q, cos, sin):
    a, b = q[..., 0::2], q[..., 1::2]
    return torch.stack((a * cos - b * sin, b * cos + a * sin), dim=-1).flatten(-2)


def _answer(q, dy, cos, sin, rotate):
    q = q.detach().requires_grad_()
    y = rotate(q, cos, sin)
    y.backward(dy)
    return {"y": y, "dq": q.grad}
