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
    return a % b


def fmod(a, b):
    return a.fmod(b)


def maximum(a, b):
    return a.maximum(b)


def minimum(a, b):
    return a.minimum(b)


def clamp(x, low, high):
    return x.clamp(low, high)


def clamp_between(x, low, high):
    return x.clamp(low, high)


def where(mask, a, b):
    return mask.where(a, b)


def lerp(a, b, weight):
    return a.lerp(b, weight)


def copysign(a, b):
    return a.copysign(b)


def logaddexp(a, b):
    return a.logaddexp(b)


def sigmoid(x):
    return x.sigmoid()


def logsigmoid(x):
    return x.logsigmoid()


def softplus(x):
    return x.softplus()


def relu(x):
    return x.relu()


def relu6(x):
    return x.relu6()


def leaky_relu(x, slope):
    return x.leaky_relu(slope)


def elu(x, alpha):
    return x.elu(alpha)


def celu(x, alpha):
    return x.celu(alpha)


def selu(x):
    return x.selu()


def gelu(x):
    return x.gelu(approximate="none")


def gelu_tanh(x):
    return x.gelu()


def silu(x):
    return x.silu()


def mish(x):
    return x.mish()


def softsign(x):
    return x.softsign()


def hardtanh(x, low, high):
    return x.hardtanh(low, high)


def hardsigmoid(x):
    return x.hardsigmoid()


def hardswish(x):
    return x.hardswish()
