import jax
import jax.numpy as jnp


def full(q, k, v, dy):
    return _answer(q, k, v, dy)


def causal(q, k, v, dy):
    return _answer(q, k, v, dy, is_causal=True)


def masked(q, k, v, dy):
    T = q.shape[1]
    seen = jnp.tri(T, dtype=bool) & ~jnp.tri(T, k=-3, dtype=bool)
    return _answer(q, k, v, dy, mask=seen[None, None])


def _answer(q, k, v, dy, **mask):
    y, backward = jax.vjp(lambda q, k, v: jax.nn.dot_product_attention(q, k, v, **mask).swapaxes(1, 2), q, k, v)
    dq, dk, dv = backward(dy)
    return {"y": y, "dq": dq, "dk": dk, "dv": dv}
