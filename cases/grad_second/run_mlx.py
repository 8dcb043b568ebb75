import mlx.core as mx
from mlx import nn


def _gradient(f, x, v):
    return mx.grad(lambda x: mx.sum(f(x) * v))(x)


def softmax(x, v):
    return _gradient(lambda x: mx.softmax(x, axis=-1), x, v)


def log_softmax(x, v):
    return _gradient(lambda x: nn.log_softmax(x, axis=-1), x, v)


def logsumexp(x, v):
    return _gradient(lambda x: mx.logsumexp(x, axis=-1, keepdims=True), x, v)


def layer_norm(x, v):
    return _gradient(lambda x: mx.fast.layer_norm(x, None, None, 1e-5), x, v)


def norm(x, v):
    return _gradient(lambda x: mx.linalg.norm(x, axis=-1, keepdims=True), x, v)


def variance(x, v):
    return _gradient(lambda x: mx.var(x, axis=-1, keepdims=True), x, v)


def gelu(x, v):
    return _gradient(nn.gelu, x, v)


def tanh(x, v):
    return _gradient(mx.tanh, x, v)


def silu(x, v):
    return _gradient(nn.silu, x, v)


def softplus(x, v):
    return _gradient(nn.softplus, x, v)


def exp(x, v):
    return _gradient(mx.exp, x, v)


def sqrt(x, v):
    return _gradient(mx.sqrt, x, v)


def divide(x, w, v):
    return _gradient(lambda w: x / w, w, v)


def matmul(x, w, v):
    return _gradient(lambda x: x @ w, x, v)


def cumsum(x, v):
    return _gradient(lambda x: mx.square(mx.cumsum(x, axis=-1)), x, v)


def conv1d(x, w, v):
    return _gradient(lambda x: mx.conv1d(x.swapaxes(1, 2), w.swapaxes(1, 2)).swapaxes(1, 2), x, v)


def recomputed(x, w, v):
    def f(x):
        z = x @ w
        return mx.tanh(z) * nn.silu(z)

    return _gradient(mx.checkpoint(f), x, v)


def stopped(x, v):
    return _gradient(lambda x: mx.stop_gradient(x) * x, x, v)


def rounded(x, v):
    return _gradient(lambda x: mx.square(x + mx.stop_gradient(mx.round(x) - x)), x, v)


def reversed(x, v):
    return _gradient(lambda x: mx.square(_reverse(x)), x, v)


@mx.custom_function
def _reverse(x):
    return x


@_reverse.vjp
def _(_, cotangent, __):
    return -0.5 * cotangent
