import mlx.core as mx
from mlx import nn, optimizers

LENGTHS = (16, 24, 17, 33, 16, 8, 40, 17, 1, 29)


def _loss(weights, x, target):
    y = mx.tanh((x + weights["position"][: len(x)]) @ weights["w"].T)
    return nn.losses.mse_loss(y, target)


def run(x, target, w, position):
    weights = {"w": w, "position": position}
    optimizer = optimizers.AdamW(2.0**-5, betas=[0.9, 0.999], eps=1e-8, weight_decay=2.0**-4, bias_correction=True)
    losses = []
    for i, length in enumerate(LENGTHS):
        loss, grads = mx.value_and_grad(_loss)(weights, x[i, :length], target[i, :length])
        weights = optimizer.apply_gradients(grads, weights)
        losses.append(loss)
    return {"losses": mx.stack(losses), **weights}
