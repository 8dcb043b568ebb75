"""torch has no rotary operator; this is the formula as its users write it, with float32 tables."""

import torch


def half_split(q, dy):
    q = q.detach().requires_grad_()
    cos, sin = _tables(q)
    a, b = q.chunk(2, dim=-1)
    y = torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)
    y.backward(dy)
    return {"y": y, "dq": q.grad}


def interleaved(q, dy):
    q = q.detach().requires_grad_()
    cos, sin = _tables(q)
    a, b = q[..., 0::2], q[..., 1::2]
    y = torch.stack((a * cos - b * sin, b * cos + a * sin), dim=-1).flatten(-2)
    y.backward(dy)
    return {"y": y, "dq": q.grad}


def _tables(q_BHTD):
    t, d = q_BHTD.shape[-2:]
    frequency = 10_000.0 ** (-torch.arange(0, d, 2) / d)
    angle_TD = torch.outer(torch.arange(t), frequency)
    return angle_TD.cos().type_as(q_BHTD), angle_TD.sin().type_as(q_BHTD)
