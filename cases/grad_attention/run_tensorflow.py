import keras
import tensorflow as tf


def _attend(q, k, v, **options):
    q, k, v = (tf.transpose(t, [0, 2, 1, 3]) for t in (q, k, v))  # to [B, T, N, H]
    return tf.transpose(keras.ops.dot_product_attention(q, k, v, **options), [0, 2, 1, 3])


def sdpa(q, k, v):
    return _attend(q, k, v)


def sdpa_scale(q, k, v, scale):
    return _attend(q, k, v, scale=scale)


def sdpa_causal(q, k, v):
    return _attend(q, k, v, is_causal=True)


def sdpa_causal_rectangle(q, k, v):
    return _attend(q, k, v, is_causal=True)


def sdpa_mask(q, k, v, mask):
    return _attend(q, k, v, mask=mask)


def sdpa_mask_heads(q, k, v, mask):
    return _attend(q, k, v, mask=mask)


def sdpa_bias(q, k, v, mask):
    return _attend(q, k, v, bias=mask)


def sdpa_bias_heads(q, k, v, mask):
    return _attend(q, k, v, bias=mask)


def sdpa_hidden_row(q, k, v, mask, row):
    y = _attend(q, k, v, mask=mask)
    return tf.concat([y[:, :, :row], y[:, :, row + 1 :]], axis=2)


def sdpa_grouped(q, k, v):
    return _attend(q, k, v)


def sdpa_cache(q, k, v, past_k, past_v):
    k, v = tf.concat([past_k, k], axis=2), tf.concat([past_v, v], axis=2)
    seen = tf.linalg.band_part(tf.ones([q.shape[2], k.shape[2]], tf.bool), -1, k.shape[2] - q.shape[2])
    return _attend(q, k, v, mask=seen)


def sdpa_alibi(q, k, v, slopes):
    t, s = tf.range(q.shape[2])[:, None], tf.range(k.shape[2])
    return _attend(q, k, v, bias=-slopes[:, None, None] * tf.cast(tf.abs(t - s), q.dtype))


def multi_head(x, wq, bq, wk, bk, wv, bv, wo, bo, heads):
    layer = keras.layers.MultiHeadAttention(heads, x.shape[-1] // heads, dtype=x.dtype.name)
    layer.build(x.shape, x.shape)
    given = [t for w, b in ((wq, bq), (wk, bk), (wv, bv)) for t in (tf.transpose(w), b)] + [tf.transpose(wo), bo]
    weights = [tf.reshape(t, variable.shape) for t, variable in zip(given, layer.trainable_variables, strict=True)]
    return layer.stateless_call(weights, layer.non_trainable_variables, x, x)[0]
