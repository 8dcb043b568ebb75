import jax.numpy as jnp


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
    return jnp.fmod(a, b)


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
    return jnp.abs(a)


def negative(a):
    return -a


def sum(x, axis):
    return jnp.sum(x, axis=axis)


def prod(x, axis):
    return jnp.prod(x, axis=axis)


def cumsum(x, axis):
    return jnp.cumsum(x, axis=axis)


def mean(x, axis):
    return jnp.mean(x, axis=axis)


def bool_sum(x, axis):
    return jnp.sum(x, axis=axis)


def less(a, b):
    return a < b


def less_equal(a, b):
    return a <= b


def equal(a, b):
    return a == b


def is_nan(x):
    return jnp.isnan(x)


def is_inf(x):
    return jnp.isinf(x)


def is_finite(x):
    return jnp.isfinite(x)


def sign(x):
    return jnp.sign(x)


def to_int(x):
    return x.astype(jnp.int32)


def to_bool(x):
    return x.astype(bool)


def to_float(x):
    return x.astype(jnp.float32)


def to_float32(x):
    return x.astype(jnp.float32)


def to_bfloat16(x):
    return x.astype(jnp.bfloat16)


def to_float16(x):
    return x.astype(jnp.float16)


def arange(like, start, stop, by):
    return jnp.arange(start, stop, by, dtype=like.dtype)


def arange_whole(like, start, stop, by):
    return jnp.arange(start, stop, by, dtype=like.dtype)


def arange_down(like, start, stop, by):
    return jnp.arange(start, stop, by, dtype=like.dtype)


def linspace(like, start, stop, count):
    return jnp.linspace(start, stop, count, dtype=like.dtype)
