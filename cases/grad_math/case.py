"""Functions of one number: powers, exponentials, logarithms, angles, rounding."""

import math

import numpy as np

from harness.sweep.kinds import elementwise
from harness.sweep.op import Op, Sweep


def square(x):
    return x * x


def reciprocal(x):
    return 1 / x


def sqrt(x):
    return np.sqrt(x)


def rsqrt(x):
    return 1 / np.sqrt(x)


def cbrt(x):
    return np.cbrt(x)


def exp(x):
    return np.exp(x)


def exp2(x):
    return np.exp2(x)


def expm1(x):
    return np.expm1(x)


def log(x):
    return np.log(x)


def log2(x):
    return np.log2(x)


def log10(x):
    return np.log10(x)


def log1p(x):
    return np.log1p(x)


def sin(x):
    return np.sin(x)


def cos(x):
    return np.cos(x)


def tan(x):
    return np.tan(x)


def asin(x):
    return np.arcsin(x)


def acos(x):
    return np.arccos(x)


def atan(x):
    return np.arctan(x)


def sinh(x):
    return np.sinh(x)


def cosh(x):
    return np.cosh(x)


def tanh(x):
    return np.tanh(x)


def asinh(x):
    return np.arcsinh(x)


def acosh(x):
    return np.arccosh(x)


def atanh(x):
    return np.arctanh(x)


def erf(x):
    return np.vectorize(math.erf, otypes=[float])(x)


def erfc(x):
    return np.vectorize(math.erfc, otypes=[float])(x)


def lgamma(x):
    return np.vectorize(lambda number: math.inf if number <= 0 and number.is_integer() else math.lgamma(number), otypes=[float])(x)


def sinc(x):
    return np.sinc(x)


def absolute(x):
    return np.abs(x)


def neg(x):
    return -x


def sign(x):
    return np.sign(x)


def floor(x):
    return np.floor(x)


def ceil(x):
    return np.ceil(x)


def trunc(x):
    return np.trunc(x)


def round_half_even(x):
    return np.round(x)


def _one_less(_, dy):
    """Of y + 1, the slope of expm1."""
    return {"x": dy}


def _of_sinh(_, dy):
    """Of exp(x) - exp(-x), each 1 at 0; cosh has it as its slope."""
    return {"y": np.ones(dy.shape)}


def _of_cosh(_, dy):
    return {"x": dy}


def _of_area(_, dy):
    """The logarithm of a number near 1: of x + sqrt(x**2 + 1) and of (1 + x) / (1 - x)."""
    return {"y": np.ones(dy.shape)}


def _of_tanh(_, dy):
    """Of 2 / (1 + exp(-2 x)) - 1, and of 1 - y**2, whose error is twice that of y."""
    return {"y": np.ones(dy.shape), "x": 2 * dy}


def _of_lgamma(asked, _):
    """Lanczos' terms, of the size of x + 7."""
    return {"y": np.abs(asked.tensors["x"]) + 7}


def _of_sinc(asked, dy):
    """Of cos(pi x) / x - sin(pi x) / (pi x**2) each term is 1 / x at most; the rounding of pi x moves the first by pi."""
    x = np.abs(asked.tensors["x"])
    return {"x": dy * (np.pi + 1 / np.where(x == 0, 1, x))}


CASE = Sweep(
    claim="Each function of one number has the value and the gradient of its definition, also at zero and at infinity.",
    failure="wrong-gradient",
    items={
        "square": Op(forward=square, takes=elementwise()),
        "reciprocal": Op(forward=reciprocal, takes=elementwise("nonzero")),
        "sqrt": Op(forward=sqrt, takes=elementwise("positive")),
        "rsqrt": Op(forward=rsqrt, takes=elementwise("positive")),
        "cbrt": Op(forward=cbrt, takes=elementwise("nonzero")),
        "exp": Op(forward=exp, takes=elementwise()),
        "exp2": Op(forward=exp2, takes=elementwise()),
        "expm1": Op(forward=expm1, takes=elementwise(), cancels=_one_less),
        "log": Op(forward=log, takes=elementwise("positive")),
        "log2": Op(forward=log2, takes=elementwise("positive")),
        "log10": Op(forward=log10, takes=elementwise("positive")),
        "log1p": Op(forward=log1p, takes=elementwise("unit")),
        "sin": Op(forward=sin, takes=elementwise()),
        "cos": Op(forward=cos, takes=elementwise()),
        "tan": Op(forward=tan, takes=elementwise("unit")),
        "asin": Op(forward=asin, takes=elementwise("unit")),
        "acos": Op(forward=acos, takes=elementwise("unit")),
        "atan": Op(forward=atan, takes=elementwise()),
        "sinh": Op(forward=sinh, takes=elementwise(), cancels=_of_sinh),
        "cosh": Op(forward=cosh, takes=elementwise(), cancels=_of_cosh),
        "tanh": Op(forward=tanh, takes=elementwise(), cancels=_of_tanh),
        "asinh": Op(forward=asinh, takes=elementwise(), cancels=_of_area),
        "acosh": Op(forward=acosh, takes=elementwise("above one")),
        "atanh": Op(forward=atanh, takes=elementwise("unit"), cancels=_of_area),
        "erf": Op(forward=erf, takes=elementwise()),
        "erfc": Op(forward=erfc, takes=elementwise()),
        "lgamma": Op(forward=lgamma, takes=elementwise("positive"), cancels=_of_lgamma),
        "sinc": Op(forward=sinc, takes=elementwise(), cancels=_of_sinc),
        "absolute": Op(forward=absolute, takes=elementwise()),
        "neg": Op(forward=neg, takes=elementwise()),
        "sign": Op(forward=sign, takes=elementwise()),
        "floor": Op(forward=floor, takes=elementwise()),
        "ceil": Op(forward=ceil, takes=elementwise()),
        "trunc": Op(forward=trunc, takes=elementwise()),
        "round_half_even": Op(forward=round_half_even, takes=elementwise()),
    },
)
