import jax
import jax.numpy as jnp
import optax

EPS = 2**-26


def rms_norm(x, w, dy):
    def norm(x, w):
        wide = x.astype(jnp.float32)
        return (wide * jax.lax.rsqrt(jnp.mean(wide**2, axis=-1, keepdims=True) + EPS)).astype(x.dtype) * w

    y, backward = jax.vjp(norm, x, w)
    dx, dw = backward(dy)
    return {"y": y, "dx": dx, "dw": dw}


def layer_norm(x, w, b, dy):
    def norm(x, w, b):
        wide = x.astype(jnp.float32)
        centred = wide - jnp.mean(wide, axis=-1, keepdims=True)
        return (centred * jax.lax.rsqrt(jnp.mean(centred**2, axis=-1, keepdims=True) + EPS)).astype(x.dtype) * w + b

    y, backward = jax.vjp(norm, x, w, b)
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
