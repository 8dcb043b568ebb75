import mlx.core as mx
from mlx import nn


def _loss(weights, x, target):
    for layer in weights:
        x = x + mx.tanh(x @ layer) / 16
    return nn.losses.mse_loss(x, target)


def run(x, target, w):
    weights, losses = list(w), []
    for _ in range(3):
        loss, grads = mx.value_and_grad(_loss)(weights, x, target)
        weights = [layer - 2.0 * grad for layer, grad in zip(weights, grads, strict=True)]
        losses.append(loss)
    return {"losses": mx.stack(losses), "w": mx.stack(weights)}
