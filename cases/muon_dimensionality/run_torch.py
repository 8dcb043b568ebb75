import torch


def _step(weight, grad):
    torch.nn.init.zeros_(weight)
    weight.grad = grad
    torch.optim.Muon([weight], lr=0.02, weight_decay=0.0).step()
    return {"update": weight}


def linear_wide(grad):
    layer = torch.nn.Linear(4, 16, bias=False, dtype=grad.dtype)
    return _step(layer.weight, grad)


def linear_tall(grad):
    layer = torch.nn.Linear(16, 4, bias=False, dtype=grad.dtype)
    return _step(layer.weight, grad)


def stack(grad):
    return _step(torch.nn.Parameter(torch.empty_like(grad)), grad)


def kernel(grad):
    layer = torch.nn.Conv2d(2, 6, 5, bias=False, dtype=grad.dtype)
    return _step(layer.weight, grad)


def embedding(grad):
    layer = torch.nn.Embedding(16, 4, dtype=grad.dtype)
    return _step(layer.weight, grad)


def vector(grad):
    return _step(torch.nn.Parameter(torch.empty_like(grad)), grad)
