import torch
import torch.nn.functional as F


def sum(ones, random):
    return {"ones": torch.sum(ones, dim=1), "random": torch.sum(random, dim=1)}


def mean(ones, random):
    return {"ones": torch.mean(ones, dim=1), "random": torch.mean(random, dim=1)}


def softmax(logits):
    y = torch.softmax(logits, dim=1)
    return {"uniform": y[:1], "random": y[1:]}


def _cross_entropy(logits, target):
    logits = logits.clone().requires_grad_()
    loss = F.cross_entropy(logits, target)
    loss.backward()
    return loss.reshape(1), logits.grad


def cross_entropy(logits, target):
    loss_uniform, dlogits_uniform = _cross_entropy(logits[:1], target[:1])
    loss_random, dlogits_random = _cross_entropy(logits[1:], target[1:])
    return {
        "loss_uniform": loss_uniform,
        "loss_random": loss_random,
        "dlogits_uniform": dlogits_uniform,
        "dlogits_random": dlogits_random,
    }


def bias_grad(dy):
    bias = torch.zeros(4, dtype=dy.dtype, requires_grad=True)
    y = torch.zeros_like(dy) + bias
    y.backward(dy)
    return {"ones": bias.grad[:2], "random": bias.grad[2:]}


def embedding_grad(ids, dy):
    table = torch.zeros(8, 4, dtype=dy.dtype, requires_grad=True)
    F.embedding(ids, table).backward(dy)
    return {"ones": table.grad[:, :2], "random": table.grad[:, 2:]}


def cumsum(ones, random):
    return {"ones": torch.cumsum(ones, dim=1), "random": torch.cumsum(random, dim=1)}


def _clipped(grad):
    weight = torch.nn.Parameter(torch.zeros_like(grad))
    weight.grad = grad.clone()
    torch.nn.utils.clip_grad_norm_([weight], 1.0)
    return weight.grad


def clip_norm(ones, random):
    return {"ones": _clipped(ones), "random": _clipped(random)}


def update_stall(weight, grad):
    weight = torch.nn.Parameter(weight)
    optimizer = torch.optim.SGD([weight], lr=2**-10)
    for _ in range(100):
        optimizer.zero_grad()
        (weight * grad).sum().backward()
        optimizer.step()
    return {"ones": weight[:1], "random": weight[1:]}
