import keras
import tensorflow as tf


def _reduced(loss, x, t, reduction, **options):
    """A loss of keras is the mean over the last axis: for every number's own it gets one of 1."""
    if reduction == "mean":
        return tf.reduce_mean(loss(t, x, **options))
    values = loss(t[..., None], x[..., None], **options)
    return tf.reduce_sum(values) if reduction == "sum" else values


def mse(x, t, *, reduction):
    return _reduced(keras.losses.mean_squared_error, x, t, reduction)


def l1(x, t, *, reduction):
    return _reduced(keras.losses.mean_absolute_error, x, t, reduction)


def huber(x, t, *, delta, reduction):
    return _reduced(keras.losses.huber, x, t, reduction, delta=delta)


def log_cosh(x, t, *, reduction):
    return _reduced(keras.losses.log_cosh, x, t, reduction)


def hinge(x, target, *, reduction):
    return _reduced(keras.losses.hinge, x, tf.cast(target, x.dtype), reduction)


def poisson_nll_log(x, target, *, full, reduction):
    values = tf.nn.log_poisson_loss(tf.cast(target, x.dtype), x, compute_full_loss=full)
    return {"mean": tf.reduce_mean, "sum": tf.reduce_sum, "none": tf.identity}[reduction](values)
