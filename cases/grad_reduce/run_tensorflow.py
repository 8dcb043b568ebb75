import math

import tensorflow as tf


def sum(x, axes, keepdims):
    return tf.math.reduce_sum(x, axes, keepdims)


def mean(x, axes, keepdims):
    return tf.math.reduce_mean(x, axes, keepdims)


def nansum(x, axes, keepdims):
    return tf.keras.ops.nansum(x, axes, keepdims)


def prod(x, axis, keepdims):
    return tf.math.reduce_prod(x, axis, keepdims)


def max(x, axis, keepdims):
    return tf.math.reduce_max(x, axis, keepdims)


def min(x, axis, keepdims):
    return tf.math.reduce_min(x, axis, keepdims)


def amax(x, axes, keepdims):
    return tf.math.reduce_max(x, axes, keepdims)


def amin(x, axes, keepdims):
    return tf.math.reduce_min(x, axes, keepdims)


def var(x, axes, correction, keepdims):
    return tf.math.reduce_variance(x, axes, keepdims) * _corrected(x, axes, correction)


def std(x, axes, correction, keepdims):
    return tf.math.reduce_std(x, axes, keepdims) * _corrected(x, axes, correction) ** 0.5


def norm_l2(x, axes, keepdims):
    return tf.math.reduce_euclidean_norm(x, axes, keepdims)


def normalize(x, axis):
    return tf.math.l2_normalize(x, axis)


def logsumexp(x, axes, keepdims):
    return tf.math.reduce_logsumexp(x, axes, keepdims)


def softmax(x, axis):
    return tf.nn.softmax(x, axis)


def log_softmax(x, axis):
    return tf.nn.log_softmax(x, axis)


def any(x, axes, keepdims):
    return tf.math.reduce_any(x, axes, keepdims)


def all(x, axes, keepdims):
    return tf.math.reduce_all(x, axes, keepdims)


def count_nonzero(x, axes):
    return tf.math.count_nonzero(x, axes)


def argmax(x, axis, keepdims):
    return tf.keras.ops.argmax(x, axis, keepdims)


def argmin(x, axis, keepdims):
    return tf.keras.ops.argmin(x, axis, keepdims)


def _corrected(x, axes, correction):
    """It has no correction of its own."""
    count = math.prod(x.shape[axis] for axis in (range(x.ndim) if axes is None else axes))
    return count / (count - correction) if count > correction else math.nan
