import torch


def forward(x, w1, w2, dy):  # noqa: ARG001  only the step needs dy
    with torch.no_grad():
        return {"y": torch.tanh(x @ w1) @ w2}


def step(x, w1, w2, dy):
    w1, w2 = w1.detach().requires_grad_(), w2.detach().requires_grad_()
    for _ in range(40):
        y = torch.tanh(x @ w1) @ w2
        y.backward(dy)
    return {"y": y.detach(), "dw1": w1.grad, "dw2": w2.grad}
