import keras
import tensorflow as tf


def _a_channel(x, values):
    return tf.reshape(values, (-1, *[1] * (x.ndim - 2)))


def _grouped(x, weight, bias, groups, eps):
    layer = keras.layers.GroupNormalization(groups, axis=1, epsilon=eps, center=False, scale=False, dtype=x.dtype.name)
    return layer(x) * _a_channel(x, weight) + _a_channel(x, bias)


def _reduced(values, reduction):
    return {"mean": tf.reduce_mean, "sum": tf.reduce_sum, "none": tf.identity}[reduction](values)


def layer_norm(x, weight, bias, *, eps):
    return keras.ops.layer_normalization(x, weight, bias, epsilon=eps)


def layer_norm_plain(x, *, eps):
    return keras.ops.layer_normalization(x, epsilon=eps)


def layer_norm_two_axes(x, weight, bias, *, eps):
    return keras.ops.layer_normalization(x, weight, bias, axis=(-2, -1), epsilon=eps)


def rms_norm(x, weight, *, eps):
    return keras.ops.rms_normalization(x, weight, epsilon=eps)


def rms_norm_plain(x, *, eps):
    return keras.ops.rms_normalization(x, epsilon=eps)


def group_norm(x, weight, bias, *, groups, eps):
    return _grouped(x, weight, bias, groups, eps)


def instance_norm(x, weight, bias, *, eps):
    return _grouped(x, weight, bias, -1, eps)


def batch_norm_train(x, weight, bias, *, eps):
    mean, var = tf.nn.moments(x, (0, *range(2, x.ndim)), keepdims=True)
    return tf.nn.batch_normalization(x, mean, var, _a_channel(x, bias), _a_channel(x, weight), eps)


def batch_norm_eval(x, weight, bias, mean8, var8, *, eps):
    mean, var = (_a_channel(x, tf.cast(value, x.dtype) / 8) for value in (mean8, var8))
    return tf.nn.batch_normalization(x, mean, var, _a_channel(x, bias), _a_channel(x, weight), eps)


def l2_normalize(x, *, axis, eps):
    return tf.nn.l2_normalize(x, axis, epsilon=eps**2)


def cosine_similarity(a, b, *, axis):
    return -keras.losses.cosine_similarity(a, b, axis=axis)


def cross_entropy(x, ids, *, reduction):
    return _reduced(tf.nn.sparse_softmax_cross_entropy_with_logits(ids, x), reduction)


def cross_entropy_smooth(x, ids, *, reduction, smoothing):
    labels = tf.one_hot(ids, x.shape[1], dtype=x.dtype)
    losses = keras.losses.categorical_crossentropy(labels, x, from_logits=True, label_smoothing=smoothing)
    return _reduced(losses, reduction)


def cross_entropy_ignore(x, ids, *, ignore, reduction):
    losses = keras.losses.sparse_categorical_crossentropy(ids, x, from_logits=True, ignore_class=ignore)
    kept = tf.cast(ids != ignore, x.dtype)
    return tf.reduce_sum(losses) / tf.reduce_sum(kept) if reduction == "mean" else _reduced(losses, reduction)


def cross_entropy_soft(x, target, *, reduction):
    return _reduced(tf.nn.softmax_cross_entropy_with_logits(tf.cast(target, x.dtype) / 8, x), reduction)


def cross_entropy_segment(x, ids, *, reduction):
    return _reduced(tf.nn.sparse_softmax_cross_entropy_with_logits(ids, tf.linalg.matrix_transpose(x)), reduction)


def perplexity(x, ids):
    return tf.exp(tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(ids, x)))


def log_softmax_gather(x, ids):
    return tf.gather(tf.nn.log_softmax(x), ids, axis=1, batch_dims=1)


def bce_with_logits(x, target, *, reduction):
    return _reduced(tf.nn.sigmoid_cross_entropy_with_logits(tf.cast(target, x.dtype) / 8, x), reduction)


def bce_pos_weight(x, target, *, reduction, positive):
    return _reduced(tf.nn.weighted_cross_entropy_with_logits(tf.cast(target, x.dtype) / 8, x, positive), reduction)


def embedding_sum(x, ids):
    return tf.reduce_sum(tf.nn.embedding_lookup(x, ids), axis=1)
