import mlx.core as mx
from mlx import nn, optimizers

HEADS, EPS = 4, 2.0**-17


def _layer(x, norm1, w_qkv, w_out, norm2, w_gate_up, w_down):
    B, T, C = x.shape
    D = C // HEADS
    qkv = (mx.fast.rms_norm(x, norm1, EPS) @ w_qkv).reshape(B, T, 3, HEADS, D)
    q, k, v = qkv.transpose(2, 0, 3, 1, 4)
    q, k = (mx.fast.rope(t, D, traditional=True, base=10000.0, scale=1.0, offset=0) for t in (q, k))
    a = mx.fast.scaled_dot_product_attention(q, k, v, scale=D**-0.5, mask="causal")
    x = x + a.transpose(0, 2, 1, 3).reshape(B, T, C) @ w_out
    gate, up = mx.split(mx.fast.rms_norm(x, norm2, EPS) @ w_gate_up, 2, axis=-1)
    return x + (nn.silu(gate) * up) @ w_down


def _loss(weights, ids, target):
    layers = {name: w for name, w in weights.items() if name not in ("embedding", "norm", "head")}
    x = weights["embedding"][ids]
    for i in range(len(layers["norm1"])):
        x = _layer(x, **{name: w[i] for name, w in layers.items()})
    logits = mx.fast.rms_norm(x, weights["norm"], EPS) @ weights["head"]
    return nn.losses.cross_entropy(logits, target, reduction="mean")


def forward(ids, target, **weights):
    return {"loss": _loss(weights, ids, target).reshape(1)}


def step(ids, target, **weights):
    loss, grads = mx.value_and_grad(_loss)(weights, ids, target)
    grads, norm = optimizers.clip_grad_norm(grads, 1.0)
    adamw = optimizers.AdamW(2.0**-7, betas=[0.9, 0.999], eps=EPS, weight_decay=2.0**-4, bias_correction=True)
    return {"loss": loss.reshape(1), "gradient_norm": norm.reshape(1), **adamw.apply_gradients(grads, weights)}


def gemm(a, b):
    return {"c": a @ b}
