import tensorflow as tf


def _same(a, b):
    """These do not broadcast."""
    shape = tf.broadcast_dynamic_shape(tf.shape(a), tf.shape(b))
    return tf.broadcast_to(a, shape), tf.broadcast_to(b, shape)


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
    return tf.truncatemod(a, b)


def power(a, b):
    return tf.pow(a, b)


def bit_and(a, b):
    return tf.bitwise.bitwise_and(*_same(a, b))


def bit_or(a, b):
    return tf.bitwise.bitwise_or(*_same(a, b))


def bit_xor(a, b):
    return tf.bitwise.bitwise_xor(*_same(a, b))


def bit_not(a):
    return tf.bitwise.invert(a)


def shift_left(a, b):
    return tf.bitwise.left_shift(a, b)


def shift_right(a, b):
    return tf.bitwise.right_shift(a, b)


def absolute(a):
    return tf.abs(a)


def negative(a):
    return -a


def sum(x, axis):
    return tf.reduce_sum(x, axis=axis)


def prod(x, axis):
    return tf.reduce_prod(x, axis=axis)


def cumsum(x, axis):
    return tf.cumsum(x, axis=axis)


def mean(x, axis):
    return tf.reduce_mean(x, axis=axis)


def less(a, b):
    return a < b


def less_equal(a, b):
    return a <= b


def equal(a, b):
    return a == b


def is_nan(x):
    return tf.math.is_nan(x)


def is_inf(x):
    return tf.math.is_inf(x)


def is_finite(x):
    return tf.math.is_finite(x)


def sign(x):
    return tf.sign(x)


def to_int(x):
    return tf.cast(x, tf.int32)


def to_bool(x):
    return tf.cast(x, tf.bool)


def to_float(x):
    return tf.cast(x, tf.float32)


def to_float32(x):
    return tf.cast(x, tf.float32)


def to_bfloat16(x):
    return tf.cast(x, tf.bfloat16)


def to_float16(x):
    return tf.cast(x, tf.float16)


def arange(like, start, stop, by):
    return tf.range(start, stop, by, dtype=like.dtype)


def arange_whole(like, start, stop, by):
    return tf.range(start, stop, by, dtype=like.dtype)


def arange_down(like, start, stop, by):
    return tf.range(start, stop, by, dtype=like.dtype)


def linspace(like, start, stop, count):
    return tf.cast(tf.linspace(tf.cast(start, like.dtype), tf.cast(stop, like.dtype), count), like.dtype)
