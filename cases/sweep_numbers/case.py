"""Whole numbers, truth values, casts and ranges: what a type does at its ends, and what it becomes when it meets another.

Whole numbers wrap around, as two's complement does; division rounds down and a remainder has its divisor's sign; a sum, a product and a mean are exact.
"""

import ml_dtypes
import numpy as np

from harness.sweep.numbers import (
    WHOLE,
    between,
    division,
    flags,
    fractions,
    integers,
    long_whole,
    powers,
    ranges,
    shifts,
    special,
    wide_sums,
)
from harness.sweep.op import Op, Sweep


def add(a, b):
    return a + b


def subtract(a, b):
    return a - b


def multiply(a, b):
    return a * b


def floor_divide(a, b):
    return a // b


def minus_one_for_zero(a, b):
    return np.where(b == 0, -1, a // np.where(b == 0, 1, b))


def remainder(a, b):
    return a % b


def truncated_remainder(a, b):
    return np.fmod(a, b)


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
    return np.abs(a)


def negative(a):
    return -a


def sum_(x, axis):
    return x.sum(axis=axis, dtype=np.int64)


def sum_kept(x, axis):
    return x.sum(axis=axis, dtype=x.dtype)


def sum_int32_wide(x, axis):
    """Of int32 it is int64, of the others as it was."""
    return sum_(x, axis) if x.dtype == np.int32 else sum_kept(x, axis)


def prod(x, axis):
    return x.prod(axis=axis, dtype=np.int64)


def prod_kept(x, axis):
    return x.prod(axis=axis, dtype=x.dtype)


def cumsum(x, axis):
    return x.cumsum(axis=axis, dtype=np.int64)


def cumsum_kept(x, axis):
    return x.cumsum(axis=axis, dtype=x.dtype)


def mean(x, axis):
    return x.astype(np.float64).mean(axis=axis)


def mean_cut(x, axis):
    return np.trunc(x.sum(axis=axis, dtype=x.dtype) / x.shape[axis])


def less(a, b):
    return a < b


def less_equal(a, b):
    return a <= b


def equal(a, b):
    return a == b


def is_nan(x):
    return np.isnan(x)


def is_inf(x):
    return np.isinf(x)


def is_finite(x):
    return np.isfinite(x)


def sign(x):
    return np.sign(x)


def to_int(x):
    return np.trunc(x)


def to_bool(x):
    return x != 0


def to_float(x):
    return x.astype(np.float32)


def to_float32(x):
    return x.astype(np.float32)


def to_bfloat16(x):
    return x.astype(ml_dtypes.bfloat16)


def to_float16(x):
    return x.astype(np.float16)


def arange(like, start, stop, by):  # noqa: ARG001
    return np.arange(start, stop, by)


def linspace(like, start, stop, count):  # noqa: ARG001
    return np.linspace(start, stop, count)


def of_mean(asked):
    """A mean of whole numbers is float32's."""
    return 8 * 2.0**-24 * float(np.max(np.abs(asked.tensors["x"].astype(np.float64)), initial=1.0))


def of_ends(asked):
    """A range's numbers are off by u of its larger end: of float32, where they are not then rounded to a narrower type."""
    return 4 * 2.0**-24 * max(abs(asked.attributes["start"]), abs(asked.attributes["stop"]))


def always(_):
    return True


JAX = (
    "https://docs.jax.dev/en/latest/_autosummary/jax.lax.div.html",
    "a division by zero has a value that depends on the backend, as its text says",
    minus_one_for_zero,
)
TF, PADDLE = "https://www.tensorflow.org/api_docs/python/tf/math/", "https://www.paddlepaddle.org.cn/documentation/docs/en/api/paddle/"
KEPT = "the result has the type of the input, as its text says"
FLOATS = ("float32", "float64", "bfloat16", "float16")


def whole(forward, takes, **more):
    return Op(forward=forward, takes=takes, gradient=False, dtypes=WHOLE, **more)


def of_floats(forward, takes, dtypes=FLOATS, **more):
    return Op(forward=forward, takes=takes, gradient=False, dtypes=dtypes, **more)


CASE = Sweep(
    claim="Whole numbers, truth values and casts follow one rule, at the ends of a type too.",
    failure="low-precision",
    items={
        "add": whole(add, integers()),
        "subtract": whole(subtract, integers()),
        "multiply": whole(multiply, integers()),
        "floor_divide": whole(floor_divide, division()),
        "floor_divide_zero": whole(
            floor_divide,
            division(zero=True),
            claim="A division of whole numbers by zero is refused.",
            invalid=always,
            documented={"jax": JAX},
        ),
        "remainder": whole(remainder, division()),
        "truncated_remainder": whole(truncated_remainder, division()),
        "power": whole(power, powers),
        "bit_and": whole(bit_and, integers()),
        "bit_or": whole(bit_or, integers()),
        "bit_xor": whole(bit_xor, integers()),
        "bit_not": whole(bit_not, integers("a")),
        "shift_left": whole(shift_left, shifts),
        "shift_right": whole(shift_right, shifts),
        "absolute": whole(absolute, integers("a")),
        "negative": whole(negative, integers("a")),
        "sum": whole(
            sum_,
            wide_sums,
            documented={"tensorflow": (TF + "reduce_sum", KEPT, sum_kept), "paddle": (PADDLE + "sum_en.html", KEPT, sum_int32_wide)},
        ),
        "prod": whole(
            prod,
            wide_sums,
            documented={"tensorflow": (TF + "reduce_prod", KEPT, prod_kept), "paddle": (PADDLE + "prod_en.html", KEPT, prod_kept)},
        ),
        "cumsum": whole(cumsum, wide_sums, documented={"tensorflow": (TF + "cumsum", KEPT, cumsum_kept)}),
        "mean": whole(
            mean,
            wide_sums,
            slack=of_mean,
            documented={"tensorflow": (TF + "reduce_mean", "of whole numbers it is one, as its text says", mean_cut)},
        ),
        "bool_sum": of_floats(sum_, flags, ("float32",), claim="A sum of truth values counts them."),
        "less": of_floats(less, special("ab")),
        "less_equal": of_floats(less_equal, special("ab")),
        "equal": of_floats(equal, special("ab")),
        "is_nan": of_floats(is_nan, special()),
        "is_inf": of_floats(is_inf, special()),
        "is_finite": of_floats(is_finite, special()),
        "sign": of_floats(sign, special()),
        "to_int": of_floats(to_int, fractions),
        "to_bool": of_floats(to_bool, special()),
        "to_float": whole(to_float, long_whole),
        "to_float32": of_floats(to_float32, between(24), ("float64",), roundings=0),
        "to_bfloat16": of_floats(to_bfloat16, between(8), ("float32", "float64"), roundings=0),
        "to_float16": of_floats(to_float16, between(11), ("float32", "float64"), roundings=0),
        # A number's place, its product with the step, and the sum are each rounded.
        "arange": of_floats(
            arange,
            ranges(start=(0.0, 1.0, -2.0), stop=(4.0, 300.0, 2.25), by=(1.0, 0.5, 0.125), inexact={"by": (0.1,)}),
            roundings=3,
            slack=of_ends,
        ),
        "arange_whole": of_floats(arange, ranges(start=(0, -7), stop=(5, 1, 100), by=(1, 3, 2)), WHOLE[:2]),
        "arange_down": of_floats(arange, ranges(start=(5, 100), stop=(0, -7), by=(-1, -3)), WHOLE[:2]),
        "linspace": of_floats(
            linspace, ranges(start=(0.0, -1.0, 2.0), stop=(1.0, 300.0, 2.0), count=(5, 2, 301, 1)), roundings=3, slack=of_ends
        ),
    },
)
