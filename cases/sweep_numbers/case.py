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


def sum_int32(x, axis):
    """A narrow type becomes int32 and no more."""
    return x.sum(axis=axis, dtype=np.promote_types(x.dtype, np.int32))


def prod(x, axis):
    return x.prod(axis=axis, dtype=np.int64)


def prod_kept(x, axis):
    return x.prod(axis=axis, dtype=x.dtype)


def prod_int32(x, axis):
    return x.prod(axis=axis, dtype=np.promote_types(x.dtype, np.int32))


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
KEPT = (
    "https://www.tensorflow.org/api_docs/python/tf/math/reduce_sum",
    "a reduced tensor has the type of the input, as its text says",
    sum_kept,
)
KEPT_PROD = (
    "https://www.tensorflow.org/api_docs/python/tf/math/reduce_prod",
    "a reduced tensor has the type of the input, as its text says",
    prod_kept,
)
KEPT_CUMSUM = (
    "https://www.tensorflow.org/api_docs/python/tf/math/cumsum",
    "a tensor has the type of the input, as its text says",
    cumsum_kept,
)
CUT = ("https://www.tensorflow.org/api_docs/python/tf/math/reduce_mean", "a mean of whole numbers is one, as its text says", mean_cut)
FLOATS = ("float32", "float64", "bfloat16", "float16")

CASE = Sweep(
    claim="Whole numbers, truth values and casts follow one rule, at the ends of a type too.",
    failure="low-precision",
    items={
        "add": Op(forward=add, takes=integers(), gradient=False, dtypes=WHOLE),
        "subtract": Op(forward=subtract, takes=integers(), gradient=False, dtypes=WHOLE),
        "multiply": Op(forward=multiply, takes=integers(), gradient=False, dtypes=WHOLE),
        "floor_divide": Op(forward=floor_divide, takes=division(), gradient=False, dtypes=WHOLE),
        "floor_divide_zero": Op(
            claim="A division of whole numbers by zero is refused.",
            forward=floor_divide,
            takes=division(zero=True),
            gradient=False,
            dtypes=WHOLE,
            invalid=always,
            documented={"jax": JAX},
        ),
        "remainder": Op(forward=remainder, takes=division(), gradient=False, dtypes=WHOLE),
        "truncated_remainder": Op(forward=truncated_remainder, takes=division(), gradient=False, dtypes=WHOLE),
        "power": Op(forward=power, takes=powers, gradient=False, dtypes=WHOLE),
        "bit_and": Op(forward=bit_and, takes=integers(), gradient=False, dtypes=WHOLE),
        "bit_or": Op(forward=bit_or, takes=integers(), gradient=False, dtypes=WHOLE),
        "bit_xor": Op(forward=bit_xor, takes=integers(), gradient=False, dtypes=WHOLE),
        "bit_not": Op(forward=bit_not, takes=integers("a"), gradient=False, dtypes=WHOLE),
        "shift_left": Op(forward=shift_left, takes=shifts, gradient=False, dtypes=WHOLE),
        "shift_right": Op(forward=shift_right, takes=shifts, gradient=False, dtypes=WHOLE),
        "absolute": Op(forward=absolute, takes=integers("a"), gradient=False, dtypes=WHOLE),
        "negative": Op(forward=negative, takes=integers("a"), gradient=False, dtypes=WHOLE),
        "sum": Op(forward=sum_, takes=wide_sums, gradient=False, dtypes=WHOLE, documented={"tensorflow": KEPT}),
        "prod": Op(forward=prod, takes=wide_sums, gradient=False, dtypes=WHOLE, documented={"tensorflow": KEPT_PROD}),
        "cumsum": Op(forward=cumsum, takes=wide_sums, gradient=False, dtypes=WHOLE, documented={"tensorflow": KEPT_CUMSUM}),
        "mean": Op(forward=mean, takes=wide_sums, gradient=False, dtypes=WHOLE, slack=of_mean, documented={"tensorflow": CUT}),
        "bool_sum": Op(claim="A sum of truth values counts them.", forward=sum_, takes=flags, gradient=False, dtypes=("int32",)),
        "less": Op(forward=less, takes=special("ab"), gradient=False, dtypes=FLOATS),
        "less_equal": Op(forward=less_equal, takes=special("ab"), gradient=False, dtypes=FLOATS),
        "equal": Op(forward=equal, takes=special("ab"), gradient=False, dtypes=FLOATS),
        "is_nan": Op(forward=is_nan, takes=special(), gradient=False, dtypes=FLOATS),
        "is_inf": Op(forward=is_inf, takes=special(), gradient=False, dtypes=FLOATS),
        "is_finite": Op(forward=is_finite, takes=special(), gradient=False, dtypes=FLOATS),
        "sign": Op(forward=sign, takes=special(), gradient=False, dtypes=FLOATS),
        "to_int": Op(forward=to_int, takes=fractions, gradient=False, dtypes=FLOATS),
        "to_bool": Op(forward=to_bool, takes=special(), gradient=False, dtypes=FLOATS),
        "to_float": Op(forward=to_float, takes=long_whole, gradient=False, dtypes=WHOLE),
        "to_float32": Op(forward=to_float32, takes=between(24), gradient=False, dtypes=("float64",), roundings=0),
        "to_bfloat16": Op(forward=to_bfloat16, takes=between(8), gradient=False, dtypes=("float32", "float64"), roundings=0),
        "to_float16": Op(forward=to_float16, takes=between(11), gradient=False, dtypes=("float32", "float64"), roundings=0),
        # A number's place, its product with the step, and the sum are each rounded.
        "arange": Op(
            forward=arange,
            takes=ranges(start=(0.0, 1.0, -2.0), stop=(4.0, 300.0, 2.25), by=(1.0, 0.5, 0.125)),
            gradient=False,
            dtypes=FLOATS,
            roundings=3,
            slack=of_ends,
        ),
        "arange_whole": Op(
            forward=arange,
            takes=ranges(start=(0, -7), stop=(5, 1, 100), by=(1, 3, 2)),
            gradient=False,
            dtypes=WHOLE[:2],
        ),
        "arange_down": Op(forward=arange, takes=ranges(start=(5, 100), stop=(0, -7), by=(-1, -3)), gradient=False, dtypes=WHOLE[:2]),
        "linspace": Op(
            forward=linspace,
            takes=ranges(start=(0.0, -1.0, 2.0), stop=(1.0, 300.0, 2.0), count=(5, 2, 301, 1)),
            gradient=False,
            dtypes=FLOATS,
            roundings=2,
            slack=of_ends,
        ),
    },
)
