from tinygrad import Tensor, dtypes


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
    return a**b


def bit_and(a, b):
    return a & b


def bit_or(a, b):
    return a | b


def bit_xor(a, b):
    return a ^ b


def bit_not(a):
    return ~a


def shift_left(a, b):
    return a << b


def shift_right(a, b):
    return a >> b


def absolute(a):
    return a.abs()


def negative(a):
    return -a


def sum(x, axis):
    return x.sum(axis=axis)


def prod(x, axis):
    return x.prod(axis=axis)


def cumsum(x, axis):
    return x.cumsum(axis=axis)


def mean(x, axis):
    return x.mean(axis=axis)


def bool_sum(x, axis):
    return x.sum(axis=axis)


def less(a, b):
    return a < b


def less_equal(a, b):
    return a <= b


def equal(a, b):
    return a == b


def is_nan(x):
    return x.isnan()


def is_inf(x):
    return x.isinf()


def is_finite(x):
    return x.isfinite()


def sign(x):
    return x.sign()


def to_int(x):
    return x.cast(dtypes.int32)


def to_bool(x):
    return x.cast(dtypes.bool)


def to_float(x):
    return x.float()


def to_float32(x):
    return x.cast(dtypes.float32)


def to_bfloat16(x):
    return x.cast(dtypes.bfloat16)


def to_float16(x):
    return x.cast(dtypes.float16)


def arange(like, start, stop, by):
    return Tensor.arange(start, stop, by, dtype=like.dtype)


def arange_whole(like, start, stop, by):
    return Tensor.arange(start, stop, by, dtype=like.dtype)


def arange_down(like, start, stop, by):
    return Tensor.arange(start, stop, by, dtype=like.dtype)


def linspace(like, start, stop, count):
    return Tensor.linspace(start, stop, count, dtype=like.dtype)
