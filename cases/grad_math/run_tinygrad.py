def square(x):
    return x.square()


def reciprocal(x):
    return x.reciprocal()


def sqrt(x):
    return x.sqrt()


def rsqrt(x):
    return x.rsqrt()


def exp(x):
    return x.exp()


def exp2(x):
    return x.exp2()


def log(x):
    return x.log()


def log2(x):
    return x.log2()


def log10(x):
    return x.log10()


def sin(x):
    return x.sin()


def cos(x):
    return x.cos()


def tan(x):
    return x.tan()


def asin(x):
    return x.asin()


def acos(x):
    return x.acos()


def atan(x):
    return x.atan()


def sinh(x):
    return x.sinh()


def cosh(x):
    return x.cosh()


def tanh(x):
    return x.tanh()


def asinh(x):
    return x.asinh()


def acosh(x):
    return x.acosh()


def atanh(x):
    return x.atanh()


def erf(x):
    return x.erf()


def absolute(x):
    return x.abs()


def neg(x):
    return -x


def sign(x):
    return x.sign()


def floor(x):
    return x.floor()


def ceil(x):
    return x.ceil()


def trunc(x):
    return x.trunc()


def round_half_even(x):
    return x.round()
