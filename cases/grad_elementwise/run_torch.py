import torch


def add(a, b):
    return a + b


def sub(a, b):
    return a - b


def mul(a, b):
    return a * b


def div(a, b):
    return a / b


def power(a, b):
    return torch.pow(a, b)


def power_number(x, exponent):
    return torch.pow(x, exponent)


def remainder(a, b):
    return torch.remainder(a, b)


def fmod(a, b):
    return torch.fmod(a, b)


def maximum(a, b):
    return torch.maximum(a, b)


def minimum(a, b):
    return torch.minimum(a, b)


def clamp(x, low, high):
    return torch.clamp(x, low, high)


def clamp_between(x, low, high):
    return torch.clamp(x, low, high)


def where(mask, a, b):
    return torch.where(mask, a, b)


def lerp(a, b, weight):
    return torch.lerp(a, b, weight)


def hypot(a, b):
    return torch.hypot(a, b)


def atan2(a, b):
    return torch.atan2(a, b)


def copysign(a, b):
    return torch.copysign(a, b)


def logaddexp(a, b):
    return torch.logaddexp(a, b)


def xlogy(a, b):
    return torch.xlogy(a, b)


def sigmoid(x):
    return torch.sigmoid(x)


def logsigmoid(x):
    return torch.nn.functional.logsigmoid(x)


def softplus(x):
    return torch.nn.functional.softplus(x)


def softplus_beta(x, beta, threshold):
    return torch.nn.functional.softplus(x, beta, threshold)


def relu(x):
    return torch.relu(x)


def relu6(x):
    return torch.nn.functional.relu6(x)


def leaky_relu(x, slope):
    return torch.nn.functional.leaky_relu(x, slope)


def prelu(x, weight):
    return torch.nn.functional.prelu(x, weight)


def elu(x, alpha):
    return torch.nn.functional.elu(x, alpha)


def celu(x, alpha):
    return torch.nn.functional.celu(x, alpha)


def selu(x):
    return torch.nn.functional.selu(x)


def gelu(x):
    return torch.nn.functional.gelu(x)


def gelu_tanh(x):
    return torch.nn.functional.gelu(x, approximate="tanh")


def silu(x):
    return torch.nn.functional.silu(x)


def mish(x):
    return torch.nn.functional.mish(x)


def softsign(x):
    return torch.nn.functional.softsign(x)


def tanhshrink(x):
    return torch.nn.functional.tanhshrink(x)


def softshrink(x, threshold):
    return torch.nn.functional.softshrink(x, threshold)


def hardshrink(x, threshold):
    return torch.nn.functional.hardshrink(x, threshold)


def hardtanh(x, low, high):
    return torch.nn.functional.hardtanh(x, low, high)


def hardsigmoid(x):
    return torch.nn.functional.hardsigmoid(x)


def hardswish(x):
    return torch.nn.functional.hardswish(x)


def glu(x, axis):
    return torch.nn.functional.glu(x, axis)


def swiglu(a, b):
    return torch.nn.functional.silu(a) * b
