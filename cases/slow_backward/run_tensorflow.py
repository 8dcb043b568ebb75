"""One pre-norm transformer block, in tf.function; the weights are [in, out], as keras keeps them."""

import keras
import tensorflow as tf

HEADS, EPS = 4, 1e-5


def _block(x, norm1, w_qkv, w_out, norm2, w_gate, w_up, w_down):
    B, T, C = x.shape
    qkv = tf.reshape(keras.ops.rms_normalization(x, norm1, epsilon=EPS) @ w_qkv, (B, T, 3, HEADS, C // HEADS))
    q, k, v = tf.unstack(qkv, axis=2)
    a = keras.ops.dot_product_attention(q, k, v, is_causal=True)  # [B, T, heads, channels]
    x += tf.reshape(a, (B, T, C)) @ w_out
    h = keras.ops.rms_normalization(x, norm2, epsilon=EPS)
    return x + (tf.nn.silu(h @ w_gate) * (h @ w_up)) @ w_down


@tf.function
def forward(dy, **tensors):  # noqa: ARG001  only the step needs dy
    return {"y": _block(**tensors)}


@tf.function
def step(dy, **tensors):
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        y = _block(**tensors)
    grads = tape.gradient(y, tensors, output_gradients=dy)
    return {"y": y, **{f"d{name}": g for name, g in grads.items()}}


@tf.function
def gemm(a, b):
    return {"c": a @ b}
