import jax
import jax.numpy as jnp
import optax

_OPTIMIZER = optax.adamw(2**-10, b1=0.9, b2=0.999, eps=1e-8, weight_decay=0.125)


@jax.jit
def _step(w, state, g):
    dw = jax.grad(lambda w: jnp.sum(w * w * g) / 2)(w)
    update, state = _OPTIMIZER.update(dw, state, w)
    return optax.apply_updates(w, update), state


def forward(w, g):
    return _steps(w, g, 1)


def step(w, g):
    return _steps(w, g, 40)


def _steps(w, g, count):
    state = _OPTIMIZER.init(w)
    for _ in range(count):
        w, state = _step(w, state, g)
    return {"after": w}
