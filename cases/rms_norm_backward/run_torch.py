import torch.nn.functional as F


def run(x, w, dy):
    x, w = x.detach().requires_grad_(), w.detach().requires_grad_()
    y = F.rms_norm(x, w.shape, w, eps=1e-5)
    y.backward(dy)
    return {"y": y, "dx": x.grad, "dw": w.grad}
