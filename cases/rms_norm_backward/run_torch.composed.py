import torch


def run(x, w, dy):
    x, w = x.detach().requires_grad_(), w.detach().requires_grad_()
    wide = x if x.dtype == torch.float64 else x.float()
    normed = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)
    y = normed.type_as(x) * w
    y.backward(dy)
    return {"y": y, "dx": x.grad, "dw": w.grad}
