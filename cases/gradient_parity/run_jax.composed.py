import jax
import jax.numpy as jnp

HEADS = 2


def _layer_norm(x, w, b):
    return jax.nn.standardize(x, epsilon=2.0**-17) * w + b


def _block(x, norm1_w, norm1_b, w_q, w_k, w_v, w_o, norm2_w, norm2_b, w_up, b_up, w_down, b_down):
    B, T, C = x.shape
    h = _layer_norm(x, norm1_w, norm1_b)
    q, k, v = ((h @ w.T).reshape(B, T, HEADS, C // HEADS) for w in (w_q, w_k, w_v))
    scores = jnp.einsum("bthd,bshd->bhts", q, k) * (C // HEADS) ** -0.5
    p = jax.nn.softmax(jnp.where(jnp.tri(T, dtype=bool), scores, -jnp.inf))
    a = jnp.einsum("bhts,bshd->bthd", p, v)
    x = x + a.reshape(B, T, C) @ w_o.T
    h = _layer_norm(x, norm2_w, norm2_b)
    return x + jax.nn.gelu(jnp.dot(h, w_up.T) + b_up, approximate=True) @ w_down.T + b_down


def run(dy, **tensors):
    y, backward = jax.vjp(lambda leaves: _block(**leaves), tensors)
    (grads,) = backward(dy)
    return {"y": y, **{f"d{name}": g for name, g in grads.items()}}
