"""The formula with its statistics in float32 or better."""

import jax
import jax.numpy as jnp


def _layer_norm(x, w, b):
    wide = x.astype(jnp.promote_types(x.dtype, jnp.float32))
    centred = wide - jnp.mean(wide, axis=-1, keepdims=True)
    normed = centred * jax.lax.rsqrt(jnp.mean(centred**2, axis=-1, keepdims=True) + 1e-5)
    return normed.astype(x.dtype) * w + b


def run(x, w, b, dy):
    y, backward = jax.vjp(_layer_norm, x, w, b)
    dx, dw, db = backward(dy)
    return {"y": y, "dx": dx, "dw": dw, "db": db}
