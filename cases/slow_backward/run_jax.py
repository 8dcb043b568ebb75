"""One pre-norm transformer block, jit-compiled; the weights are [in, out], as flax keeps them."""

import jax
import jax.numpy as jnp

HEADS, EPS = 4, 1e-5


def _rms_norm(x, gain):
    return x * jax.lax.rsqrt(jnp.mean(jnp.square(x), axis=-1, keepdims=True) + EPS) * gain


def _block(x, norm1, w_qkv, w_out, norm2, w_gate, w_up, w_down):
    B, T, C = x.shape
    qkv = (_rms_norm(x, norm1) @ w_qkv).reshape(B, T, 3, HEADS, C // HEADS)
    a = jax.nn.dot_product_attention(qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2], is_causal=True)  # [B, T, heads, channels]
    x = x + a.reshape(B, T, C) @ w_out
    h = _rms_norm(x, norm2)
    return x + (jax.nn.silu(h @ w_gate) * (h @ w_up)) @ w_down


@jax.jit
def forward(dy, **tensors):  # noqa: ARG001  only the step needs dy
    return {"y": _block(**tensors)}


@jax.jit
def step(dy, **tensors):
    y, pullback = jax.vjp(lambda t: _block(**t), tensors)
    (grads,) = pullback(dy)
    return {"y": y, **{f"d{name}": g for name, g in grads.items()}}


@jax.jit
def gemm(a, b):
    return {"c": a @ b}
