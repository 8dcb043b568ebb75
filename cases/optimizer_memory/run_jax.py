import jax
import jax.numpy as jnp
import optax

_OPTIMIZER = optax.adamw(2**-10, b1=0.9, b2=0.999, eps=1e-8, weight_decay=0.125)


@jax.jit
def _step(w, state, g):
    dw = jax.grad(lambda w: jnp.sum(w * g))(w)
    update, state = _OPTIMIZER.update(dw, state, w)
    return optax.apply_updates(w, update), state


def step(w, g):
    state = _OPTIMIZER.init(w)
    for _ in range(40):
        w, state = _step(w, state, g)
    return {"after": w}
