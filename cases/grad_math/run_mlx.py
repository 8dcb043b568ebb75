import mlx.core as mx


def square(x):
    return mx.square(x)


def reciprocal(x):
    return mx.reciprocal(x)


def sqrt(x):
    return mx.sqrt(x)


def rsqrt(x):
    return mx.rsqrt(x)


def exp(x):
    return mx.exp(x)


def expm1(x):
    return mx.expm1(x)


def log(x):
    return mx.log(x)


def log2(x):
    return mx.log2(x)


def log10(x):
    return mx.log10(x)


def log1p(x):
    return mx.log1p(x)


def sin(x):
    return mx.sin(x)


def cos(x):
    return mx.cos(x)


def tan(x):
    return mx.tan(x)


def asin(x):
    return mx.arcsin(x)


def acos(x):
    return mx.arccos(x)


def atan(x):
    return mx.arctan(x)


def sinh(x):
    return mx.sinh(x)


def cosh(x):
    return mx.cosh(x)


def tanh(x):
    return mx.tanh(x)


def asinh(x):
    return mx.arcsinh(x)


def acosh(x):
    return mx.arccosh(x)


def atanh(x):
    return mx.arctanh(x)


def erf(x):
    return mx.erf(x)


def absolute(x):
    return mx.abs(x)


def neg(x):
    return -x


def sign(x):
    return mx.sign(x)


def floor(x):
    return mx.floor(x)


def ceil(x):
    return mx.ceil(x)


def trunc(x):
    return mx.trunc(x)


def round_half_even(x):
    return mx.round(x)
