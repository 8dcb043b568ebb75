"""A quantized layer written by hand: torch's own have no gradient to ask for on a CPU."""

import torch


def quantized(x, w, dy):
    x, scale = x.detach().requires_grad_(), w.abs().amax() / 127
    stored = (w / scale).round().to(torch.int8)
    y = x @ (stored.to(x.dtype) * scale).T
    y.backward(dy)
    return {"y": y, "dx": x.grad}
