import torch.nn.functional as F


def rank3(x, w, b, dy):
    return _linear(x, w, b, dy)


def rank4(x, w, b, dy):
    return _linear(x, w, b, dy)


def _linear(x, w, b, dy):
    x, w, b = x.detach().requires_grad_(), w.detach().requires_grad_(), b.detach().requires_grad_()
    y = F.linear(x.transpose(-1, -2), w, b)
    y.backward(dy)
    return {"y": y, "dx": x.grad, "dw": w.grad, "db": b.grad}
