import mlx.core as mx
from mlx import nn


def _value_and_gradients(loss, **leaves):
    value, grads = mx.value_and_grad(lambda t: loss(**t))(leaves)
    return {"loss": value.reshape(1), **{f"d{name}": g for name, g in grads.items()}}


def tied(ids, target, table, w):
    def loss(table, w):
        logits = mx.tanh(table[ids] @ w.T) @ table.T
        return nn.losses.cross_entropy(logits, target, reduction="mean")

    return _value_and_gradients(loss, table=table, w=w)


def tiled_heads(q, k, v, dy):
    def loss(q, k, v):
        y = mx.fast.scaled_dot_product_attention(q, mx.tile(k, (1, 2, 1, 1)), mx.tile(v, (1, 2, 1, 1)), scale=0.5)
        return (y * dy).sum()

    return _value_and_gradients(loss, q=q, k=k, v=v)


def cast(alone, beside, dy):
    other = mx.float32 if dy.dtype == mx.float64 else mx.float64

    def loss(alone, beside):
        y = alone.astype(other).astype(dy.dtype) ** 2 + beside * beside.astype(other).astype(dy.dtype) ** 2
        return (y * dy).sum()

    return _value_and_gradients(loss, alone=alone, beside=beside)


def llama_attention(x, norm, w_q, w_k, w_v, dy):
    B, T, C = x.shape

    def rotary(x):
        return mx.fast.rope(x, C // 2, traditional=True, base=10000.0, scale=1.0, offset=0)

    def loss(x, norm, w_q, w_k, w_v):
        h = mx.fast.rms_norm(x, norm, 1e-5)
        q, k, v = ((h @ w.T).reshape(B, T, 2, C // 2).transpose(0, 2, 1, 3) for w in (w_q, w_k, w_v))
        a = mx.fast.scaled_dot_product_attention(rotary(q), rotary(k), v, scale=(C // 2) ** -0.5, mask="causal")
        return (a.transpose(0, 2, 1, 3).reshape(B, T, C) * dy).sum()

    return _value_and_gradients(loss, x=x, norm=norm, w_q=w_q, w_k=w_k, w_v=w_v)


def shared_layer(x, w, dy):
    def loss(x, w):
        for _ in range(3):
            x = x + mx.tanh(x @ w.T)
        return (x * dy).sum()

    return _value_and_gradients(loss, x=x, w=w)
