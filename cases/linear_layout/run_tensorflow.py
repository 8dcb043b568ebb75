"""What a keras Dense computes, on a transposed input. tensorflow has no strides: a transpose is a copy, or a flag of the product (`flags`)."""

import keras
import tensorflow as tf


def rank3(x, w, b, dy):
    return _value_and_gradients(x, w, b, dy)


def rank4(x, w, b, dy):
    return _value_and_gradients(x, w, b, dy)


def _linear(x, w, b):
    return keras.ops.matmul(keras.ops.swapaxes(x, -1, -2), keras.ops.transpose(w)) + b


def _value_and_gradients(x, w, b, dy):
    with tf.GradientTape() as tape:
        tape.watch([x, w, b])
        y = _linear(x, w, b)
    dx, dw, db = tape.gradient(y, [x, w, b], output_gradients=dy)
    return {"y": y, "dx": dx, "dw": dw, "db": db}
