import torch
import torch.nn.functional as F


def rms_norm(x, w, dy):
    x, w = x.detach().requires_grad_(), w.detach().requires_grad_()
    y = F.rms_norm(x, w.shape, w, eps=2**-26)
    y.backward(dy)
    return {"y": y, "dx": x.grad, "dw": w.grad}


def layer_norm(x, w, b, dy):
    x, w, b = x.detach().requires_grad_(), w.detach().requires_grad_(), b.detach().requires_grad_()
    y = F.layer_norm(x, w.shape, w, b, eps=2**-26)
    y.backward(dy)
    return {"y": y, "dx": x.grad, "dw": w.grad, "db": b.grad}


def adam(w, g):
    w = torch.nn.Parameter(w)
    optimizer = torch.optim.AdamW([w], lr=2**-4, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0)
    for grad in g:
        optimizer.zero_grad()
        (w * grad).sum().backward()
        optimizer.step()
    return {"after": w}
