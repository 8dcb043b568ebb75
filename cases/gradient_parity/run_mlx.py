import mlx.core as mx
from mlx import nn

HEADS, EPS = 2, 2.0**-17


def _block(x, norm1_w, norm1_b, w_q, w_k, w_v, w_o, norm2_w, norm2_b, w_up, b_up, w_down, b_down):
    B, T, C = x.shape
    h = mx.fast.layer_norm(x, norm1_w, norm1_b, EPS)
    q, k, v = ((h @ w.T).reshape(B, T, HEADS, C // HEADS).transpose(0, 2, 1, 3) for w in (w_q, w_k, w_v))
    a = mx.fast.scaled_dot_product_attention(q, k, v, scale=(C // HEADS) ** -0.5, mask="causal")
    x = x + a.transpose(0, 2, 1, 3).reshape(B, T, C) @ w_o.T
    h = mx.fast.layer_norm(x, norm2_w, norm2_b, EPS)
    return x + nn.gelu_approx(h @ w_up.T + b_up) @ w_down.T + b_down


def run(dy, **tensors):
    names = list(tensors)
    (y,), grads = mx.vjp(lambda *values: _block(**dict(zip(names, values, strict=True))), list(tensors.values()), [dy])
    return {"y": y, **{f"d{name}": g for name, g in zip(names, grads, strict=True)}}
