import tensorflow as tf


def cumsum(x, axis):
    return tf.math.cumsum(x, axis)


def cumprod(x, axis):
    return tf.math.cumprod(x, axis)


def logcumsumexp(x, axis):
    return tf.math.cumulative_logsumexp(x, axis)


def sort(x, axis):
    return tf.sort(x, axis)


def argsort(x, axis):
    return tf.argsort(x, axis, stable=True)


def topk(x, k):
    return tf.math.top_k(x, k).values


def median(x, axis):
    return tf.keras.ops.median(x, axis)


def quantile(x, axis, q):
    return tf.keras.ops.quantile(x, q, axis)
