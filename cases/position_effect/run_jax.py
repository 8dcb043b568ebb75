import jax
import jax.numpy as jnp

HEADS = 2


def _angles(time, channels, dtype):
    return (jnp.arange(time)[:, None] / 10000 ** (jnp.arange(0, channels, 2) / channels)).astype(dtype)


def _rotary(x):
    T, _, D = x.shape[1:]
    angle = _angles(T, D, x.dtype)[:, None]
    even, odd, cos, sin = x[..., 0::2], x[..., 1::2], jnp.cos(angle), jnp.sin(angle)
    return jnp.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1).reshape(x.shape)


def _both(ids, order, target, table, w_q, w_k, w_v, head, added, turn):
    def nll(ids):
        x = table[ids] + added
        B, T, C = x.shape
        q, k, v = ((x @ w.T).reshape(B, T, HEADS, C // HEADS) for w in (w_q, w_k, w_v))
        a = jax.nn.dot_product_attention(turn(q), turn(k), v).reshape(B, T, C)
        log_p = jax.nn.log_softmax(a[:, -1] @ head.T)
        return -jnp.take_along_axis(log_p, target[:, None], axis=1).mean(keepdims=True).reshape(1)

    ordered, shuffled = nll(ids), nll(jnp.concatenate([ids[:, order], ids[:, -1:]], axis=1))
    return {"nll": ordered, "nll_shuffled": shuffled, "effect": shuffled - ordered}


def rotary(**tensors):
    return _both(**tensors, added=0, turn=_rotary)


def learned(position, **tensors):
    return _both(**tensors, added=position, turn=lambda x: x)


def sinusoidal(**tensors):
    table = tensors["table"]
    angle = _angles(8, table.shape[1], table.dtype)
    sines = jnp.stack([jnp.sin(angle), jnp.cos(angle)], axis=-1).reshape(8, -1)
    return _both(**tensors, added=sines, turn=lambda x: x)
