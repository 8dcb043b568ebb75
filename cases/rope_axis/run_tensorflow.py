"""Neither tensorflow nor keras has a rotary operator; this is the formula as their users write it, with float32 tables."""

import tensorflow as tf


def half_split(q, dy):
    return _value_and_gradient(_half_split, q, dy)


def interleaved(q, dy):
    return _value_and_gradient(_interleaved, q, dy)


def _half_split(q):
    cos, sin = _tables(q)
    a, b = tf.split(q, 2, axis=-1)
    return tf.concat((a * cos - b * sin, b * cos + a * sin), axis=-1)


def _interleaved(q):
    cos, sin = _tables(q)
    a, b = q[..., 0::2], q[..., 1::2]
    return tf.reshape(tf.stack((a * cos - b * sin, b * cos + a * sin), axis=-1), q.shape)


def _tables(q_BHTD):
    t, d = q_BHTD.shape[-2:]
    frequency = 10_000.0 ** (-tf.range(0, d, 2, dtype=tf.float32) / d)
    angle_TD = tf.tensordot(tf.range(t, dtype=tf.float32), frequency, axes=0)
    return tf.cast(tf.cos(angle_TD), q_BHTD.dtype), tf.cast(tf.sin(angle_TD), q_BHTD.dtype)


def _value_and_gradient(rotate, q, dy):
    with tf.GradientTape() as tape:
        tape.watch(q)
        y = rotate(q)
    return {"y": y, "dq": tape.gradient(y, q, output_gradients=dy)}
