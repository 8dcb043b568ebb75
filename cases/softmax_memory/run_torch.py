import torch


def forward(x, dy):  # noqa: ARG001  only the step needs dy
    return {"y": torch.softmax(x, dim=-1)}


def step(x, dy):
    x = x.detach().requires_grad_()
    y = torch.softmax(x, dim=-1)
    y.backward(dy)
    return {"y": y, "dx": x.grad}
