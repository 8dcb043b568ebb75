import torch
import torch.nn.functional as F


def run(x, target, w):
    weights = [layer.clone().requires_grad_() for layer in w]
    losses = []
    for _ in range(3):
        h = x
        for layer in weights:
            h = h + torch.tanh(h @ layer) / 16
        loss = F.mse_loss(h, target)
        grads = torch.autograd.grad(loss, weights)
        weights = [(layer - 2.0 * grad).detach().requires_grad_() for layer, grad in zip(weights, grads, strict=True)]
        losses.append(loss.detach())
    return {"losses": torch.stack(losses), "w": torch.stack(weights).detach()}
