import jax.numpy as jnp
from optax.contrib import muon


def _step(grad):
    weight = jnp.zeros_like(grad)
    optimizer = muon(learning_rate=0.02)
    update, _ = optimizer.update(grad, optimizer.init(weight), weight)
    return update


# optax documents a matrix as x W = y, so [in, out], which is also how flax stores a Dense kernel.
def linear_wide(grad):
    return {"update": _step(grad.T).T}


def linear_tall(grad):
    return {"update": _step(grad.T).T}


def stack(grad):
    return {"update": _step(grad.transpose(0, 2, 1)).transpose(0, 2, 1)}


def kernel(grad):
    grad_HWIO = grad.transpose(2, 3, 1, 0)
    return {"update": _step(grad_HWIO).transpose(3, 2, 0, 1)}


def embedding(grad):
    return {"update": _step(grad)}


def vector(grad):
    return {"update": _step(grad)}
