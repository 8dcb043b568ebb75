import jax
import jax.numpy as jnp
import optax

LENGTHS = (16, 24, 17, 33, 16, 8, 40, 17, 1, 29)


def _loss(weights, x, target):
    y = jnp.tanh((x + weights["position"][: len(x)]) @ weights["w"].T)
    return jnp.mean((y - target) ** 2)


def run(x, target, w, position):
    weights = {"w": w, "position": position}
    optimizer = optax.adamw(2.0**-5, b1=0.9, b2=0.999, eps=1e-8, weight_decay=2.0**-4)
    state, losses = optimizer.init(weights), []
    for i, length in enumerate(LENGTHS):
        loss, grads = jax.value_and_grad(_loss)(weights, x[i, :length], target[i, :length])
        updates, state = optimizer.update(grads, state, weights)
        weights = optax.apply_updates(weights, updates)
        losses.append(loss)
    return {"losses": jnp.stack(losses), **weights}
