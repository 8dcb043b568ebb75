import mlx.core as mx
from mlx import nn


def add(a, b):
    return a + b


def sub(a, b):
    return a - b


def mul(a, b):
    return a * b


def div(a, b):
    return a / b


def power(a, b):
    return a**b


def power_number(x, exponent):
    return x**exponent


def remainder(a, b):
    return mx.remainder(a, b)


def maximum(a, b):
    return mx.maximum(a, b)


def minimum(a, b):
    return mx.minimum(a, b)


def clamp(x, low, high):
    return mx.clip(x, low, high)


def clamp_between(x, low, high):
    return mx.clip(x, low, high)


def where(mask, a, b):
    return mx.where(mask, a, b)


def atan2(a, b):
    return mx.arctan2(a, b)


def logaddexp(a, b):
    return mx.logaddexp(a, b)


def sigmoid(x):
    return mx.sigmoid(x)


def logsigmoid(x):
    return nn.log_sigmoid(x)


def softplus(x):
    return nn.softplus(x)


def relu(x):
    return nn.relu(x)


def relu6(x):
    return nn.relu6(x)


def leaky_relu(x, slope):
    return nn.leaky_relu(x, slope)


def prelu(x, weight):
    return nn.prelu(x, weight.reshape(-1, *[1] * (x.ndim - 2)))


def elu(x, alpha):
    return nn.elu(x, alpha)


def celu(x, alpha):
    return nn.celu(x, alpha)


def selu(x):
    return nn.selu(x)


def gelu(x):
    return nn.gelu(x)


def gelu_tanh(x):
    return nn.gelu_approx(x)


def silu(x):
    return nn.silu(x)


def mish(x):
    return nn.mish(x)


def softsign(x):
    return nn.softsign(x)


def softshrink(x, threshold):
    return nn.softshrink(x, threshold)


def hardshrink(x, threshold):
    return nn.hard_shrink(x, threshold)


def hardtanh(x, low, high):
    return nn.hard_tanh(x, low, high)


def hardswish(x):
    return nn.hardswish(x)


def glu(x, axis):
    return nn.glu(x, axis)


def swiglu(a, b):
    return nn.silu(a) * b
