from tinygrad import nn
from tinygrad.helpers import Context


def update_stall(weight, grad):
    optimizer = nn.optim.SGD([weight], lr=2**-10)
    with Context(TRAINING=1):
        for _ in range(100):
            optimizer.zero_grad()
            (weight * grad).sum().backward()
            optimizer.step()
    return {"ones": weight[:1], "random": weight[1:]}
