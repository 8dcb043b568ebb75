"""jax has no rotary operator; this is the formula as its users write it."""

import jax
import jax.numpy as jnp


def half_split(q, dy, cos, sin):
    return _answer(q, dy, lambda q: _halves(q, cos, sin))


def interleaved(q, dy, cos, sin):
    return _answer(q, dy, lambda q: _neighbours(q, cos, sin))


def half_split_time_first(q, dy, cos, sin):
    return _answer(q, dy, lambda q: _halves(q, cos[:, None], sin[:, None]))


def _halves(q, cos, sin):
    a, b = jnp.split(q, 2, axis=-1)
    return jnp.concatenate((a * cos - b * sin, b * cos + a * sin), axis=-1)


def _neighbours(q, cos, sin):
    a, b = q[..., 0::2], q[..., 1::2]
    return jnp.stack((a * cos - b * sin, b * cos + a * sin), axis=-1).reshape(q.shape)


def _answer(q, dy, rotate):
    y, backward = jax.vjp(rotate, q)
    (dq,) = backward(dy)
    return {"y": y, "dq": dq}
