import jax
import jax.numpy as jnp


def _layers(x, w1, w2):
    return jnp.tanh(x @ w1) @ w2


@jax.jit
def forward(x, w1, w2, dy):  # noqa: ARG001  only the step needs dy
    return {"y": _layers(x, w1, w2)}


@jax.jit
def _gradients(x, w1, w2, dy):
    y, backward = jax.vjp(lambda w1, w2: _layers(x, w1, w2), w1, w2)
    return y, backward(dy)


def step(x, w1, w2, dy):
    sums = (jnp.zeros_like(w1), jnp.zeros_like(w2))
    for _ in range(40):
        y, gradients = _gradients(x, w1, w2, dy)
        sums = jax.tree.map(jnp.add, sums, gradients)
    return {"y": y, "dw1": sums[0], "dw2": sums[1]}
