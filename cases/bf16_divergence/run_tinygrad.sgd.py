from tinygrad import Tensor, nn


def update_stall(weight, grad):
    optimizer = nn.optim.SGD([weight], lr=2**-10)
    with Tensor.train():
        for _ in range(100):
            optimizer.zero_grad()
            (weight * grad).sum().backward()
            optimizer.step()
    return {"ones": weight[:1], "random": weight[1:]}
