import tempfile
from pathlib import Path

import mlx.core as mx
from mlx import nn, optimizers
from mlx.utils import tree_flatten, tree_unflatten

STEPS, AFTER = 6, 3


def _model(w):
    model = nn.Linear(6, 5, bias=False)
    model.weight = w
    return model


def _saved(tree):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "saved.npz"  # mlx's safetensors have no float64
        mx.savez(str(file), **dict(tree_flatten(tree)))
        loaded = mx.load(str(file))
        mx.eval(loaded)
        return tree_unflatten(list(loaded.items()))


def _train(make, x, target, w, stop):
    def loss(model, x, target):
        return nn.losses.mse_loss(mx.tanh(model(x)), target)

    model, optimizer, losses = _model(w), make(), []
    for i in range(STEPS):
        if i == stop:
            saved = _saved({"model": model.parameters(), "optimizer": optimizer.state})
            model, optimizer = _model(mx.zeros_like(w)), make()
            model.update(saved["model"])
            optimizer.state = saved["optimizer"]
        value, grads = nn.value_and_grad(model, loss)(model, x[i], target[i])
        optimizer.update(model, grads)
        losses.append(value)
    return mx.stack(losses), model.weight


def _both(make, x, target, w):
    losses, end = _train(make, x, target, w, stop=None)
    resumed, resumed_end = _train(make, x, target, w, stop=AFTER)
    return {"losses": losses, "w": end, "loss_quotient": (resumed / losses)[AFTER:], "w_quotient": resumed_end / end}


def adamw(x, target, w):
    def make():
        return optimizers.AdamW(2.0**-5, betas=[0.9, 0.999], eps=1e-8, weight_decay=2.0**-4, bias_correction=True)

    return _both(make, x, target, w)


def momentum(x, target, w):
    return _both(lambda: optimizers.SGD(2.0**-5, momentum=0.9), x, target, w)
