import tensorflow as tf


def add(a, b):
    return a + b


def sub(a, b):
    return a - b


def mul(a, b):
    return a * b


def div(a, b):
    return a / b


def power(a, b):
    return tf.math.pow(a, b)


def power_number(x, exponent):
    return tf.math.pow(x, exponent)


def remainder(a, b):
    return tf.math.floormod(a, b)


def fmod(a, b):
    return tf.truncatemod(a, b)


def maximum(a, b):
    return tf.math.maximum(a, b)


def minimum(a, b):
    return tf.math.minimum(a, b)


def clamp(x, low, high):
    return tf.clip_by_value(x, low, high)


def clamp_between(x, low, high):
    return tf.clip_by_value(x, low, high)


def where(mask, a, b):
    return tf.where(mask, a, b)


def hypot(a, b):
    return tf.keras.ops.hypot(a, b)


def atan2(a, b):
    return tf.math.atan2(a, b)


def logaddexp(a, b):
    return tf.keras.ops.logaddexp(a, b)


def xlogy(a, b):
    return tf.math.xlogy(a, b)


def sigmoid(x):
    return tf.math.sigmoid(x)


def logsigmoid(x):
    return tf.math.log_sigmoid(x)


def softplus(x):
    return tf.math.softplus(x)


def relu(x):
    return tf.nn.relu(x)


def relu6(x):
    return tf.nn.relu6(x)


def leaky_relu(x, slope):
    return tf.nn.leaky_relu(x, slope)


def elu(x, alpha):
    return tf.keras.activations.elu(x, alpha)


def celu(x, alpha):
    return tf.keras.activations.celu(x, alpha)


def selu(x):
    return tf.nn.selu(x)


def gelu(x):
    return tf.nn.gelu(x)


def gelu_tanh(x):
    return tf.nn.gelu(x, approximate=True)


def silu(x):
    return tf.nn.silu(x)


def mish(x):
    return tf.keras.activations.mish(x)


def softsign(x):
    return tf.nn.softsign(x)


def tanhshrink(x):
    return tf.keras.activations.tanh_shrink(x)


def softshrink(x, threshold):
    return tf.keras.activations.soft_shrink(x, threshold)


def hardshrink(x, threshold):
    return tf.keras.activations.hard_shrink(x, threshold)


def hardsigmoid(x):
    return tf.keras.activations.hard_sigmoid(x)


def hardswish(x):
    return tf.keras.activations.hard_swish(x)


def glu(x, axis):
    return tf.keras.activations.glu(x, axis)
