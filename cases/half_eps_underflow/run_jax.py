import jax
import jax.numpy as jnp
import optax

EPS = 2**-26


def layer_norm(x, w, b, dy):
    y, backward = jax.vjp(lambda x, w, b: jax.nn.standardize(x, epsilon=EPS) * w + b, x, w, b)
    dx, dw, db = backward(dy)
    return {"y": y, "dx": dx, "dw": dw, "db": db}


def adam(w, g):
    optimizer = optax.adam(2**-4, b1=0.9, b2=0.999, eps=1e-8)
    state = optimizer.init(w)
    for grad in g:
        dw = jax.grad(lambda w, grad: jnp.sum(w * grad))(w, grad)
        update, state = optimizer.update(dw, state, w)
        w = optax.apply_updates(w, update)
    return {"after": w}
