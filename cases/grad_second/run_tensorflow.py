import tensorflow as tf


def _gradient(f, x, v):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(f(x) * v)
    return tape.gradient(loss, x)


def softmax(x, v):
    return _gradient(tf.nn.softmax, x, v)


def log_softmax(x, v):
    return _gradient(tf.nn.log_softmax, x, v)


def logsumexp(x, v):
    return _gradient(lambda x: tf.reduce_logsumexp(x, axis=-1, keepdims=True), x, v)


def norm(x, v):
    return _gradient(lambda x: tf.norm(x, axis=-1, keepdims=True), x, v)


def variance(x, v):
    return _gradient(lambda x: tf.math.reduce_variance(x, axis=-1, keepdims=True), x, v)


def gelu(x, v):
    return _gradient(tf.nn.gelu, x, v)


def tanh(x, v):
    return _gradient(tf.tanh, x, v)


def silu(x, v):
    return _gradient(tf.nn.silu, x, v)


def softplus(x, v):
    return _gradient(tf.nn.softplus, x, v)


def exp(x, v):
    return _gradient(tf.exp, x, v)


def sqrt(x, v):
    return _gradient(tf.sqrt, x, v)


def divide(x, w, v):
    return _gradient(lambda w: x / w, w, v)


def matmul(x, w, v):
    return _gradient(lambda x: x @ w, x, v)


def cumsum(x, v):
    return _gradient(lambda x: tf.cumsum(x, axis=-1) ** 2, x, v)


def conv1d(x, w, v):
    def f(x):
        y = tf.nn.conv1d(tf.transpose(x, [0, 2, 1]), tf.transpose(w, [2, 1, 0]), stride=1, padding="VALID")
        return tf.transpose(y, [0, 2, 1])

    return _gradient(f, x, v)


def recomputed(x, w, v):
    @tf.recompute_grad
    def f(x, w):
        z = x @ w
        return tf.tanh(z) * tf.nn.silu(z)

    return _gradient(lambda x: f(x, w), x, v)


def stopped(x, v):
    return _gradient(lambda x: tf.stop_gradient(x) * x, x, v)


def rounded(x, v):
    return _gradient(lambda x: (x + tf.stop_gradient(tf.round(x) - x)) ** 2, x, v)


def reversed(x, v):
    return _gradient(lambda x: _reverse(x) ** 2, x, v)


@tf.custom_gradient
def _reverse(x):
    return tf.identity(x), lambda grad: -0.5 * grad
