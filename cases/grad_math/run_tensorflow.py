import tensorflow as tf


def square(x):
    return tf.math.square(x)


def reciprocal(x):
    return tf.math.reciprocal(x)


def sqrt(x):
    return tf.math.sqrt(x)


def rsqrt(x):
    return tf.math.rsqrt(x)


def cbrt(x):
    return tf.keras.ops.cbrt(x)


def exp(x):
    return tf.math.exp(x)


def exp2(x):
    return tf.keras.ops.exp2(x)


def expm1(x):
    return tf.math.expm1(x)


def log(x):
    return tf.math.log(x)


def log2(x):
    return tf.keras.ops.log2(x)


def log10(x):
    return tf.keras.ops.log10(x)


def log1p(x):
    return tf.math.log1p(x)


def sin(x):
    return tf.math.sin(x)


def cos(x):
    return tf.math.cos(x)


def tan(x):
    return tf.math.tan(x)


def asin(x):
    return tf.math.asin(x)


def acos(x):
    return tf.math.acos(x)


def atan(x):
    return tf.math.atan(x)


def sinh(x):
    return tf.math.sinh(x)


def cosh(x):
    return tf.math.cosh(x)


def tanh(x):
    return tf.math.tanh(x)


def asinh(x):
    return tf.math.asinh(x)


def acosh(x):
    return tf.math.acosh(x)


def atanh(x):
    return tf.math.atanh(x)


def erf(x):
    return tf.math.erf(x)


def erfc(x):
    return tf.math.erfc(x)


def lgamma(x):
    return tf.math.lgamma(x)


def sinc(x):
    return tf.keras.ops.sinc(x)


def absolute(x):
    return tf.math.abs(x)


def neg(x):
    return -x


def sign(x):
    return tf.math.sign(x)


def floor(x):
    return tf.math.floor(x)


def ceil(x):
    return tf.math.ceil(x)


def trunc(x):
    return tf.keras.ops.trunc(x)


def round_half_even(x):
    return tf.math.round(x)
