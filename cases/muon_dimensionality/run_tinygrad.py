from tinygrad import Tensor, nn


def _step(weight, grad):
    weight.assign(Tensor.zeros_like(grad)).realize()
    weight.grad = grad
    optimizer = nn.optim.Muon([weight], lr=0.02, weight_decay=0.0)
    with Tensor.train():
        optimizer.step()
    return {"update": weight}


def linear_wide(grad):
    return _step(nn.Linear(4, 16, bias=False).weight.cast(grad.dtype).contiguous(), grad)


def linear_tall(grad):
    return _step(nn.Linear(16, 4, bias=False).weight.cast(grad.dtype).contiguous(), grad)


def stack(grad):
    return _step(Tensor.zeros_like(grad).contiguous(), grad)


def kernel(grad):
    return _step(nn.Conv2d(2, 6, 5, bias=False).weight.cast(grad.dtype).contiguous(), grad)


def embedding(grad):
    return _step(nn.Embedding(16, 4).weight.cast(grad.dtype).contiguous(), grad)


def vector(grad):
    return _step(Tensor.zeros_like(grad).contiguous(), grad)
