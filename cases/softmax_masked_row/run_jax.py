import jax
import jax.numpy as jnp


def lowest(q, k, v, dy, seen):
    mask = jnp.where(seen == 0, jnp.finfo(q.dtype).min, 0.0)
    return _answer(q, k, v, dy, lambda q, k, v: jax.nn.softmax(q @ k.swapaxes(2, 3) * 0.5 + mask) @ v)


def fused(q, k, v, dy, seen):
    def attend(q, k, v):
        q, k, v = q.swapaxes(1, 2), k.swapaxes(1, 2), v.swapaxes(1, 2)
        return jax.nn.dot_product_attention(q, k, v, mask=(seen != 0)[None, None]).swapaxes(1, 2)

    return _answer(q, k, v, dy, attend)


def _answer(q, k, v, dy, attend):
    y, backward = jax.vjp(attend, q, k, v)
    dq, dk, dv = backward(dy)
    return {"y": y[:, :, jnp.array([0, 1, 3, 4])], "dq": dq, "dk": dk, "dv": dv}
