"""torch.onnx.ops.rotary_embedding: made for export, runs eagerly, documents [batch, heads, time, width]."""

import torch


def half_split(q, dy):
    return _rotary_embedding(q, dy, positions=q.shape[2], interleaved=False)


def interleaved(q, dy):
    return _rotary_embedding(q, dy, positions=q.shape[2], interleaved=True)


def half_split_time_first(q, dy):
    return _rotary_embedding(q, dy, positions=q.shape[1], interleaved=False)


def interleaved_time_first(q, dy):
    return _rotary_embedding(q, dy, positions=q.shape[1], interleaved=True)


def _rotary_embedding(q, dy, positions, interleaved):
    q = q.detach().requires_grad_()
    batch, d = q.shape[0], q.shape[-1]
    frequency = 10_000.0 ** (-torch.arange(0, d, 2) / d)
    angle = torch.outer(torch.arange(positions), frequency)
    position_ids = torch.arange(positions).expand(batch, positions)
    y = torch.onnx.ops.rotary_embedding(q, angle.cos().type_as(q), angle.sin().type_as(q), position_ids, interleaved=interleaved)
    y.backward(dy)
    return {"y": y, "dq": q.grad}
