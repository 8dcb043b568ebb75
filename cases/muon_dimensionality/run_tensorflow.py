import keras
import tensorflow as tf


def _step(variable, grad):
    variable.assign(tf.zeros_like(grad))
    keras.optimizers.Muon(learning_rate=0.02).apply([grad], [variable])  # a weight of zero decays by zero
    return tf.convert_to_tensor(variable.value)


def _of(layer, shape, grad):
    layer.build(shape)
    return _step(layer.trainable_weights[0], grad)


def linear_wide(grad):  # keras keeps a Dense kernel as [in, out]
    layer = keras.layers.Dense(16, use_bias=False, dtype=grad.dtype.name)
    return {"update": tf.transpose(_of(layer, (None, 4), tf.transpose(grad)))}


def linear_tall(grad):
    layer = keras.layers.Dense(4, use_bias=False, dtype=grad.dtype.name)
    return {"update": tf.transpose(_of(layer, (None, 16), tf.transpose(grad)))}


def stack(grad):
    return {"update": _step(keras.Variable(grad, dtype=grad.dtype.name), grad)}


def kernel(grad):
    layer = keras.layers.Conv2D(6, 5, use_bias=False, dtype=grad.dtype.name)
    update_HWIO = _of(layer, (None, 8, 8, 2), tf.transpose(grad, [2, 3, 1, 0]))
    return {"update": tf.transpose(update_HWIO, [3, 2, 0, 1])}


def embedding(grad):
    return {"update": _of(keras.layers.Embedding(16, 4, dtype=grad.dtype.name), (None,), grad)}


def vector(grad):
    return {"update": _step(keras.Variable(grad, dtype=grad.dtype.name), grad)}
