import jax
import jax.numpy as jnp


def _loss(weights, x, target):
    for layer in weights:
        x = x + jnp.tanh(x @ layer) / 16
    return jnp.mean((x - target) ** 2)


def run(x, target, w):
    weights, losses = list(w), []
    for _ in range(3):
        loss, grads = jax.value_and_grad(_loss)(weights, x, target)
        weights = [layer - 2.0 * grad for layer, grad in zip(weights, grads, strict=True)]
        losses.append(loss)
    return {"losses": jnp.stack(losses), "w": jnp.stack(weights)}
