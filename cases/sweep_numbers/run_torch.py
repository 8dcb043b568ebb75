import torch


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


def truncated_remainder(a, b):
    return torch.fmod(a, b)


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
    return torch.abs(a)


def negative(a):
    return -a


def sum(x, axis):
    return torch.sum(x, dim=axis)


def prod(x, axis):
    return torch.prod(x, dim=axis)


def cumsum(x, axis):
    return torch.cumsum(x, dim=axis)


def bool_sum(x, axis):
    return torch.sum(x, dim=axis)


def less(a, b):
    return a < b


def less_equal(a, b):
    return a <= b


def equal(a, b):
    return a == b


def is_nan(x):
    return torch.isnan(x)


def is_inf(x):
    return torch.isinf(x)


def is_finite(x):
    return torch.isfinite(x)


def sign(x):
    return torch.sign(x)


def to_int(x):
    return x.to(torch.int32)


def to_bool(x):
    return x.to(torch.bool)


def to_float(x):
    return x.to(torch.float32)


def to_float32(x):
    return x.to(torch.float32)


def to_bfloat16(x):
    return x.to(torch.bfloat16)


def to_float16(x):
    return x.to(torch.float16)


def arange(like, start, stop, by):
    return torch.arange(start, stop, by, dtype=like.dtype)


def arange_whole(like, start, stop, by):
    return torch.arange(start, stop, by, dtype=like.dtype)


def arange_down(like, start, stop, by):
    return torch.arange(start, stop, by, dtype=like.dtype)


def linspace(like, start, stop, count):
    return torch.linspace(start, stop, count, dtype=like.dtype)
