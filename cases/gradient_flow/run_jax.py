import jax
import jax.numpy as jnp


def _value_and_gradients(loss, **leaves):
    value, grads = jax.value_and_grad(lambda t: loss(**t))(leaves)
    return {"loss": value.reshape(1), **{f"d{name}": g for name, g in grads.items()}}


def tied(ids, target, table, w):
    def loss(table, w):
        log_p = jax.nn.log_softmax(jnp.tanh(table[ids] @ w.T) @ table.T)
        return -jnp.take_along_axis(log_p, target[..., None], axis=-1).mean()

    return _value_and_gradients(loss, table=table, w=w)


def tiled_heads(q, k, v, dy):
    def loss(q, k, v):
        q, k, v = (x.swapaxes(1, 2) for x in (q, jnp.tile(k, (1, 2, 1, 1)), jnp.tile(v, (1, 2, 1, 1))))
        return (jax.nn.dot_product_attention(q, k, v).swapaxes(1, 2) * dy).sum()

    return _value_and_gradients(loss, q=q, k=k, v=v)


def cast(alone, beside, dy):
    other = jnp.float32 if dy.dtype == jnp.float64 else jnp.float64

    def loss(alone, beside):
        y = alone.astype(other).astype(dy.dtype) ** 2 + beside * beside.astype(other).astype(dy.dtype) ** 2
        return (y * dy).sum()

    return _value_and_gradients(loss, alone=alone, beside=beside)


def _rotary(x):
    T, _, D = x.shape[-3:]
    angle = (jnp.arange(T)[:, None] / 10000 ** (jnp.arange(0, D, 2) / D)).astype(x.dtype)[:, None]
    even, odd, cos, sin = x[..., 0::2], x[..., 1::2], jnp.cos(angle), jnp.sin(angle)
    return jnp.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1).reshape(x.shape)


def llama_attention(x, norm, w_q, w_k, w_v, dy):
    B, T, C = x.shape

    def loss(x, norm, w_q, w_k, w_v):
        h = x * jax.lax.rsqrt(jnp.mean(x**2, axis=-1, keepdims=True) + 1e-5) * norm
        q, k, v = ((h @ w.T).reshape(B, T, 2, C // 2) for w in (w_q, w_k, w_v))
        a = jax.nn.dot_product_attention(_rotary(q), _rotary(k), v, is_causal=True)
        return (a.reshape(B, T, C) * dy).sum()

    return _value_and_gradients(loss, x=x, norm=norm, w_q=w_q, w_k=w_k, w_v=w_v)


def shared_layer(x, w, dy):
    def loss(x, w):
        for _ in range(3):
            x = x + jnp.tanh(x @ w.T)
        return (x * dy).sum()

    return _value_and_gradients(loss, x=x, w=w)
