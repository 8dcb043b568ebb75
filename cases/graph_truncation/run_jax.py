import jax
import jax.numpy as jnp


def slice_set(a, b, dy):
    y, backward = jax.vjp(lambda a, b: jnp.zeros_like(dy).at[:, :3].set(a).at[:, 3:].set(b), a, b)
    da, db = backward(dy)
    return {"y": y, "da": da, "db": db}


def masked_loss(x, w, dy):
    y, backward = jax.vjp(lambda x, w: (x * w).at[:1].set(0), x, w)
    dx, dw = backward(dy)
    return {"y": y, "dx": dx, "dw": dw}


def kv_cache(q, k, v, dy):
    return _attention(q, k, v, dy, lambda x: jnp.zeros_like(x).at[:, :, :4].set(x[:, :, :4]).at[:, :, 4:].set(x[:, :, 4:]))


def concat_kv_cache(q, k, v, dy):
    return _attention(q, k, v, dy, lambda x: jnp.concatenate([x[:, :, :4], x[:, :, 4:]], axis=2))


def gradient_penalty(x, w, v):
    first = jax.grad(lambda x, w: jnp.sum(w * jnp.square(jnp.square(x))))
    y, backward = jax.vjp(first, x, w)
    dx, dw = backward(v)
    return {"y": y, "dx": dx, "dw": dw}


def _attention(q, k, v, dy, through_cache):
    y, backward = jax.vjp(lambda q, k, v: q @ through_cache(k).swapaxes(2, 3) @ through_cache(v), q, k, v)
    dq, dk, dv = backward(dy)
    return {"y": y, "dq": dq, "dk": dk, "dv": dv}
