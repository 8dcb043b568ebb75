import torch.nn.functional as F


def run(x, w, b, dy):
    x, w, b = x.detach().requires_grad_(), w.detach().requires_grad_(), b.detach().requires_grad_()
    y = F.layer_norm(x, w.shape, w, b, eps=1e-5)
    y.backward(dy)
    return {"y": y, "dx": x.grad, "dw": w.grad, "db": b.grad}
