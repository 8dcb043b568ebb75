"""The update goes through .data, which autograd does not see."""


def set_between(x, new, dy):
    x = x.detach().clone().requires_grad_()
    y = x.square()
    x.data.copy_(new)
    y.backward(dy)
    return {"y": y, "dx": x.grad, "after": x}
