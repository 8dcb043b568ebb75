import keras
import tensorflow as tf

HEADS = 2


def _layer_norm(x, w, b):
    return keras.ops.layer_normalization(x, gamma=w, beta=b, epsilon=2.0**-17)


def _block(x, norm1_w, norm1_b, w_q, w_k, w_v, w_o, norm2_w, norm2_b, w_up, b_up, w_down, b_down):
    B, T, C = x.shape
    h = _layer_norm(x, norm1_w, norm1_b)
    q, k, v = (tf.reshape(h @ tf.transpose(w), [B, T, HEADS, C // HEADS]) for w in (w_q, w_k, w_v))
    a = keras.ops.dot_product_attention(q, k, v, is_causal=True)
    x = x + tf.reshape(a, [B, T, C]) @ tf.transpose(w_o)
    h = _layer_norm(x, norm2_w, norm2_b)
    return x + keras.activations.gelu(h @ tf.transpose(w_up) + b_up, approximate=True) @ tf.transpose(w_down) + b_down


def run(dy, **tensors):
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        y = _block(**tensors)
    grads = tape.gradient(y, tensors, output_gradients=dy)
    return {"y": y, **{f"d{name}": g for name, g in grads.items() if g is not None}}
