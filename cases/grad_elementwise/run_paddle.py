import paddle
import paddle.nn.functional as F


def add(a, b):
    return a + b


def sub(a, b):
    return a - b


def mul(a, b):
    return a * b


def div(a, b):
    return a / b


def power(a, b):
    return paddle.pow(a, b)


def power_number(x, exponent):
    return paddle.pow(x, exponent)


def remainder(a, b):
    return paddle.remainder(a, b)


def maximum(a, b):
    return paddle.maximum(a, b)


def minimum(a, b):
    return paddle.minimum(a, b)


def clamp(x, low, high):
    return paddle.clip(x, low, high)


def where(mask, a, b):
    return paddle.where(mask, a, b)


def lerp(a, b, weight):
    return paddle.lerp(a, b, weight)


def hypot(a, b):
    return paddle.hypot(a, b)


def atan2(a, b):
    return paddle.atan2(a, b)


def copysign(a, b):
    return paddle.copysign(a, b)


def logaddexp(a, b):
    return paddle.logaddexp(a, b)


def sigmoid(x):
    return F.sigmoid(x)


def logsigmoid(x):
    return F.log_sigmoid(x)


def softplus(x):
    return F.softplus(x)


def softplus_beta(x, beta, threshold):
    return F.softplus(x, beta, threshold)


def relu(x):
    return F.relu(x)


def relu6(x):
    return F.relu6(x)


def leaky_relu(x, slope):
    return F.leaky_relu(x, slope)


def prelu(x, weight):
    return F.prelu(x, weight)


def elu(x, alpha):
    return F.elu(x, alpha)


def celu(x, alpha):
    return F.celu(x, alpha)


def selu(x):
    return F.selu(x)


def gelu(x):
    return F.gelu(x)


def gelu_tanh(x):
    return F.gelu(x, approximate=True)


def silu(x):
    return F.silu(x)


def mish(x):
    return F.mish(x)


def softsign(x):
    return F.softsign(x)


def tanhshrink(x):
    return F.tanhshrink(x)


def softshrink(x, threshold):
    return F.softshrink(x, threshold)


def hardshrink(x, threshold):
    return F.hardshrink(x, threshold)


def hardtanh(x, low, high):
    return F.hardtanh(x, low, high)


def hardsigmoid(x):
    return F.hardsigmoid(x)


def hardswish(x):
    return F.hardswish(x)


def glu(x, axis):
    return F.glu(x, axis)


def swiglu(a, b):
    return F.swiglu(a, b)
