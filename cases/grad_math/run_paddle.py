import paddle


def square(x):
    return paddle.square(x)


def reciprocal(x):
    return paddle.reciprocal(x)


def sqrt(x):
    return paddle.sqrt(x)


def rsqrt(x):
    return paddle.rsqrt(x)


def exp(x):
    return paddle.exp(x)


def expm1(x):
    return paddle.expm1(x)


def log(x):
    return paddle.log(x)


def log2(x):
    return paddle.log2(x)


def log10(x):
    return paddle.log10(x)


def log1p(x):
    return paddle.log1p(x)


def sin(x):
    return paddle.sin(x)


def cos(x):
    return paddle.cos(x)


def tan(x):
    return paddle.tan(x)


def asin(x):
    return paddle.asin(x)


def acos(x):
    return paddle.acos(x)


def atan(x):
    return paddle.atan(x)


def sinh(x):
    return paddle.sinh(x)


def cosh(x):
    return paddle.cosh(x)


def tanh(x):
    return paddle.tanh(x)


def asinh(x):
    return paddle.asinh(x)


def acosh(x):
    return paddle.acosh(x)


def atanh(x):
    return paddle.atanh(x)


def erf(x):
    return paddle.erf(x)


def lgamma(x):
    return paddle.lgamma(x)


def sinc(x):
    return paddle.sinc(x)


def absolute(x):
    return paddle.abs(x)


def neg(x):
    return -x


def sign(x):
    return paddle.sign(x)


def floor(x):
    return paddle.floor(x)


def ceil(x):
    return paddle.ceil(x)


def trunc(x):
    return paddle.trunc(x)


def round_half_even(x):
    return paddle.round(x)
