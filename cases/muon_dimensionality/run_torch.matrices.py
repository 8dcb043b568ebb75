import torch


def _step(grads):
    weights = [torch.nn.Parameter(torch.zeros_like(g)) for g in grads]
    for weight, grad in zip(weights, grads, strict=True):
        weight.grad = grad
    torch.optim.Muon(weights, lr=0.02, weight_decay=0.0).step()
    return weights


def stack(grad):
    return {"update": torch.stack(_step(list(grad)))}


def kernel(grad):
    (update,) = _step([grad.flatten(1)])
    return {"update": update.view_as(grad)}
