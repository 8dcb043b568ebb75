import torch


def run(x, dy):
    x = x.detach().requires_grad_()
    y = torch.softmax(x, dim=-1)
    y.backward(dy)
    return {"y": y, "dx": x.grad}
