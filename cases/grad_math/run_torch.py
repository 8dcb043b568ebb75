import torch


def square(x):
    return torch.square(x)


def reciprocal(x):
    return torch.reciprocal(x)


def sqrt(x):
    return torch.sqrt(x)


def rsqrt(x):
    return torch.rsqrt(x)


def exp(x):
    return torch.exp(x)


def exp2(x):
    return torch.exp2(x)


def expm1(x):
    return torch.expm1(x)


def log(x):
    return torch.log(x)


def log2(x):
    return torch.log2(x)


def log10(x):
    return torch.log10(x)


def log1p(x):
    return torch.log1p(x)


def sin(x):
    return torch.sin(x)


def cos(x):
    return torch.cos(x)


def tan(x):
    return torch.tan(x)


def asin(x):
    return torch.asin(x)


def acos(x):
    return torch.acos(x)


def atan(x):
    return torch.atan(x)


def sinh(x):
    return torch.sinh(x)


def cosh(x):
    return torch.cosh(x)


def tanh(x):
    return torch.tanh(x)


def asinh(x):
    return torch.asinh(x)


def acosh(x):
    return torch.acosh(x)


def atanh(x):
    return torch.atanh(x)


def erf(x):
    return torch.erf(x)


def erfc(x):
    return torch.erfc(x)


def lgamma(x):
    return torch.lgamma(x)


def sinc(x):
    return torch.sinc(x)


def sign(x):
    return torch.sign(x)


def floor(x):
    return torch.floor(x)


def ceil(x):
    return torch.ceil(x)


def trunc(x):
    return torch.trunc(x)


def absolute(x):
    return torch.abs(x)


def neg(x):
    return -x


def round_half_even(x):
    return torch.round(x)
