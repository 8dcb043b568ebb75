import mlx.core as mx


def add(a, b):
    return a + b


def subtract(a, b):
    return a - b


def multiply(a, b):
    return a * b


def floor_divide(a, b):
    return a // b


def floor_divide_zero(a, b):
    return a // b


def remainder(a, b):
    return a % b


def power(a, b):
    return mx.power(a, b)


def bit_and(a, b):
    return a & b


def bit_or(a, b):
    return a | b


def bit_xor(a, b):
    return a ^ b


def bit_not(a):
    return mx.bitwise_invert(a)


def shift_left(a, b):
    return a << b


def shift_right(a, b):
    return a >> b


def absolute(a):
    return mx.abs(a)


def negative(a):
    return -a


def sum(x, axis):
    return mx.sum(x, axis=axis)


def prod(x, axis):
    return mx.prod(x, axis=axis)


def cumsum(x, axis):
    return mx.cumsum(x, axis=axis)


def mean(x, axis):
    return mx.mean(x, axis=axis)


def bool_sum(x, axis):
    return mx.sum(x, axis=axis)


def less(a, b):
    return a < b


def less_equal(a, b):
    return a <= b


def equal(a, b):
    return a == b


def is_nan(x):
    return mx.isnan(x)


def is_inf(x):
    return mx.isinf(x)


def is_finite(x):
    return mx.isfinite(x)


def sign(x):
    return mx.sign(x)


def to_int(x):
    return x.astype(mx.int32)


def to_bool(x):
    return x.astype(mx.bool_)


def to_float(x):
    return x.astype(mx.float32)


def to_float32(x):
    return x.astype(mx.float32)


def to_bfloat16(x):
    return x.astype(mx.bfloat16)


def to_float16(x):
    return x.astype(mx.float16)


def arange(like, start, stop, by):
    return mx.arange(start, stop, by, dtype=like.dtype)


def arange_whole(like, start, stop, by):
    return mx.arange(start, stop, by, dtype=like.dtype)


def arange_down(like, start, stop, by):
    return mx.arange(start, stop, by, dtype=like.dtype)


def linspace(like, start, stop, count):
    return mx.linspace(start, stop, count, dtype=like.dtype)
