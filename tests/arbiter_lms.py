"""The same tiny language model in each framework, healthy or with one planted defect, as the arguments of gradarbiter.subject.

    x = embedding[ids] + position;  h = tanh(causal_mean(x) @ mix);  logits = (x + h) @ head

`fault`: "cut" stops the gradient behind h, "zero" is an operation whose own backward gives zeros: both leave `mix` without a gradient, and the loss falls all
the same. "forgotten": the optimizer never gets `mix`. `noisy`: dropout and batch normalisation on h, where the framework holds their state.
"""

import os
import sys
from pathlib import Path

import numpy as np

# Before any framework is imported.
os.environ.setdefault("KERAS_BACKEND", "torch")  # one a process; tests of the other start one of their own
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # tinygrad calls the clang of its environment

V, T, D, ROWS = 11, 6, 8, 4
MEAN = np.tril(np.ones((T, T), np.float32)) / np.arange(1, T + 1, dtype=np.float32)[:, None]
RATE = 0.05


def start(seed=3):
    rng = np.random.default_rng(seed)
    shapes = {"embedding": (V, D), "position": (T, D), "mix": (D, D), "head": (D, V)}
    return {name: (rng.standard_normal(shape) / 2).astype(np.float32) for name, shape in shapes.items()}


def batch(dtype=np.int32, seed=5):
    ids = np.random.default_rng(seed).integers(0, V, (ROWS, T + 1))
    return {"tokens": ids[:, :-1].astype(dtype), "targets": ids[:, 1:].astype(dtype)}


def torch_lm(fault="", noisy=False, seed=3):
    import torch
    from torch import nn
    from torch.nn import functional as F

    class Zero(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            return torch.zeros_like(gradient)

    class LM(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(V, D)
            self.position, self.mix = nn.Parameter(torch.zeros(T, D)), nn.Linear(D, D, bias=False)
            self.head = nn.Linear(D, V, bias=False)
            self.norm, self.drop = nn.BatchNorm1d(D), nn.Dropout(0.5)
            if not noisy:
                self.norm, self.drop = nn.Identity(), nn.Identity()

        def forward(self, ids):
            x = self.embedding(ids) + self.position
            h = torch.tanh(self.mix(torch.from_numpy(MEAN).to(x) @ x))
            h = self.drop(self.norm(h.transpose(1, 2)).transpose(1, 2))
            h = h.detach() if fault == "cut" else Zero.apply(h) if fault == "zero" else h
            return self.head(x + h)

    model, values = LM(), start(seed)
    with torch.no_grad():
        for parameter, name in (
            (model.embedding.weight, "embedding"),
            (model.position, "position"),
            (model.mix.weight, "mix"),
            (model.head.weight, "head"),
        ):
            value = torch.from_numpy(values[name])
            parameter.copy_(value.T if name in ("mix", "head") else value)
    given = {key: torch.from_numpy(value) for key, value in batch(np.int64, seed + 2).items()}
    trained = [p for p in model.parameters() if fault != "forgotten" or p is not model.mix.weight]

    def score(out, given):
        return F.cross_entropy(out.flatten(0, 1), given["targets"].flatten())

    return {
        "model": model,
        "batch": given,
        "loss_fn": lambda model, given: score(model(given["tokens"]), given),
        "optimizer": torch.optim.AdamW(trained, lr=RATE),
    }


def keras_lm(fault="", noisy=False, seed=3):
    import keras
    from keras import ops

    def zero(x):
        @ops.custom_gradient
        def own(x):
            return x, lambda *_, upstream=None: ops.zeros_like(x)

        return own(x)

    spoil = {"cut": ops.stop_gradient, "zero": zero}.get(fault, lambda x: x)

    class LM(keras.Model):
        def __init__(self):
            super().__init__(name="lm")
            self.embedding, self.position = keras.layers.Embedding(V, D, name="words"), keras.layers.Embedding(T, D, name="position")
            self.mix, self.head = keras.layers.Dense(D, use_bias=False, name="mix"), keras.layers.Dense(V, use_bias=False, name="head")
            self.norm = keras.layers.BatchNormalization() if noisy else None
            self.drop = keras.layers.Dropout(0.5, seed=1) if noisy else None

        def call(self, ids, training=False):
            x = self.embedding(ids) + self.position(ops.arange(T))
            h = ops.tanh(self.mix(ops.matmul(MEAN, x)))
            h = self.drop(self.norm(h, training=training), training=training) if noisy else h
            return self.head(x + spoil(h))

    model, values = LM(), start(seed)
    given = {key: ops.convert_to_tensor(value) for key, value in batch(seed=seed + 2).items()}
    model(given["tokens"])
    for layer in ("embedding", "position", "mix", "head"):
        getattr(model, layer).set_weights([values[layer]])
    optimizer = keras.optimizers.AdamW(RATE)

    def score(out, given):
        return ops.mean(keras.losses.sparse_categorical_crossentropy(given["targets"], out, from_logits=True))

    def predict(model, given, training=False):
        return model(given["tokens"], training=training)

    return {
        "model": model,
        "batch": given,
        "loss_fn": lambda model, given, training: score(predict(model, given, training), given),
        "optimizer": optimizer,
        "predict": predict,
        "score": score,
    }


def mlx_lm(fault="", noisy=False, seed=3):
    import mlx.core as mx
    import mlx.optimizers
    from mlx import nn

    @mx.custom_function
    def zero(x):
        return x

    @zero.vjp
    def _(primal, cotangent, output):
        return mx.zeros_like(primal)

    spoil = {"cut": mx.stop_gradient, "zero": zero}.get(fault, lambda x: x)

    class LM(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.position = nn.Embedding(V, D), mx.zeros((T, D))
            self.mix, self.head = nn.Linear(D, D, bias=False), nn.Linear(D, V, bias=False)
            self.extra = [nn.BatchNorm(D), nn.Dropout(0.5)] if noisy else []

        def __call__(self, ids):
            x = self.embedding(ids) + self.position
            h = mx.tanh(self.mix(mx.array(MEAN) @ x))
            for layer in self.extra:
                h = layer(h)
            return self.head(x + spoil(h))

    model, values = LM(), start(seed)
    model.update({"embedding": {"weight": mx.array(values["embedding"])}, "position": mx.array(values["position"])})
    model.update({name: {"weight": mx.array(np.ascontiguousarray(values[name].T))} for name in ("mix", "head")})
    optimizer = mlx.optimizers.AdamW(RATE)
    if fault == "forgotten":
        optimizer = mlx.optimizers.MultiOptimizer([mlx.optimizers.SGD(0.0), optimizer], [lambda name, _: "mix" in name])

    def score(out, given):
        return nn.losses.cross_entropy(out, given["targets"], reduction="mean")

    def predict(model, given):
        return model(given["tokens"])

    return {
        "model": model,
        "batch": {key: mx.array(value) for key, value in batch(seed=seed + 2).items()},
        "loss_fn": lambda model, given: score(predict(model, given), given),
        "optimizer": optimizer,
        "predict": predict,
        "score": score,
    }


def tinygrad_lm(fault="", noisy=False, seed=3):
    from tinygrad import Tensor, nn

    class LM:
        def __init__(self):
            self.embedding, self.position = nn.Embedding(V, D), Tensor.zeros(T, D).contiguous()
            self.mix, self.head = nn.Linear(D, D, bias=False), nn.Linear(D, V, bias=False)
            self.norm = nn.BatchNorm(D) if noisy else None

        def __call__(self, ids):
            x = self.embedding(ids) + self.position
            h = self.mix(Tensor(MEAN) @ x).tanh()
            h = self.norm(h.transpose(1, 2)).transpose(1, 2).dropout(0.5) if noisy else h
            # An operation without a backward of its own: the value by way of a constant, the graph by way of zero.
            h = h.detach() if fault == "cut" else h.detach() + h * 0 if fault == "zero" else h
            return self.head(x + h)

    model, values = LM(), start(seed)
    for tensor, name in (
        (model.embedding.weight, "embedding"),
        (model.position, "position"),
        (model.mix.weight, "mix"),
        (model.head.weight, "head"),
    ):
        tensor.replace(Tensor(np.ascontiguousarray(values[name].T if name in ("mix", "head") else values[name])))
    trained = [t for t in nn.state.get_parameters(model) if fault != "forgotten" or t is not model.mix.weight]

    def score(out, given):
        return out.sparse_categorical_crossentropy(given["targets"])

    def predict(model, given):
        return model(given["tokens"])

    return {
        "model": model,
        "batch": {key: Tensor(value) for key, value in batch(seed=seed + 2).items()},
        "loss_fn": lambda model, given: score(predict(model, given), given),
        "optimizer": nn.optim.AdamW(trained, lr=RATE),
        "predict": predict,
        "score": score,
    }
