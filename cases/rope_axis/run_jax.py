"""jax has no rotary operator; this is the formula as its users write it, with float32 tables."""

import jax
import jax.numpy as jnp


def half_split(q, dy):
    return _value_and_gradient(_half_split, q, dy)


def interleaved(q, dy):
    return _value_and_gradient(_interleaved, q, dy)


def _half_split(q):
    cos, sin = _tables(q)
    a, b = jnp.split(q, 2, axis=-1)
    return jnp.concatenate((a * cos - b * sin, b * cos + a * sin), axis=-1)


def _interleaved(q):
    cos, sin = _tables(q)
    a, b = q[..., 0::2], q[..., 1::2]
    return jnp.stack((a * cos - b * sin, b * cos + a * sin), axis=-1).reshape(q.shape)


def _tables(q_BHTD):
    t, d = q_BHTD.shape[-2:]
    frequency = 10_000.0 ** (-jnp.arange(0, d, 2, dtype=jnp.float32) / d)
    angle_TD = jnp.outer(jnp.arange(t, dtype=jnp.float32), frequency)
    return jnp.cos(angle_TD).astype(q_BHTD.dtype), jnp.sin(angle_TD).astype(q_BHTD.dtype)


def _value_and_gradient(rotate, q, dy):
    y, backward = jax.vjp(rotate, q)
    (dq,) = backward(dy)
    return {"y": y, "dq": dq}
