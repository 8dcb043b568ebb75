"""Random draws: an answer is statistics of one large draw, and what is allowed is six standard errors of each: a right generator fails once in 10^9.

A draw of floats answers its mean, its variance, its share beyond an edge, and, 1 or 0 each: all in range, distinct enough, the same from the same seed, another
one after it.
"""

import math

import numpy as np

from harness.sweep.numbers import MANY, drawn
from harness.sweep.op import Op, Sweep

SIX = 6 / math.sqrt(MANY)
YES = [1.0, 1.0, 1.0, 1.0]
# Of 20000 numbers of a lattice of 2^23, 24 meet another (150 is 25 standard deviations off); one of 2^10 or 2^7 is drawn whole.
DISTINCT = {"float64": MANY - 150, "float32": MANY - 150, "float16": 1000, "bfloat16": 120}


def uniform(low, high, **_):
    """Beyond three quarters of the range."""
    return np.array([(low + high) / 2, (high - low) ** 2 / 12, 0.25, *YES])


def normal(mean, spread, **_):
    """Beyond twice the spread."""
    return np.array([mean, spread**2, math.erfc(2 / math.sqrt(2)), *YES])


def truncated(**_):
    """Of a standard normal, cut at 2 on both sides; beyond 1.5."""
    density, inside = math.exp(-2.0) / math.sqrt(2 * math.pi), math.erf(2 / math.sqrt(2))
    beyond = (math.erfc(1.5 / math.sqrt(2)) - math.erfc(2 / math.sqrt(2))) / inside
    return np.array([0.0, 1 - 4 * density / inside, beyond, *YES])


def whole(low, high, **_):
    """The share of each number from low to high - 1, and then of any other."""
    return np.array([*[1 / (high - low)] * (high - low), 0.0])


def bernoulli(p, **_):
    """The share of ones, and of what is neither one nor zero."""
    return np.array([p, 0.0])


def dropout(rate, **_):
    """Of ones: their mean, the share that is dropped, the largest of what is kept."""
    return np.array([1.0, rate, 1 / (1 - rate)])


def categorical(weights, **_):
    """The share of each class."""
    return np.asarray(weights, dtype=float)


def without_return(weights, **_):
    """All classes that may come, drawn in many rows without return: the share of rows with each of them once, and of rows that begin with each class."""
    return np.array([1.0, *weights])


def permutation(**_):
    """Of 0 to count - 1: each of them once, and not in order."""
    return np.array([1.0, 1.0])


def of_uniform(asked):
    width = asked.attributes["high"] - asked.attributes["low"]
    return SIX * np.array([width / math.sqrt(12), width**2 * math.sqrt(1 / 80 - 1 / 144), math.sqrt(3 / 16), 0, 0, 0, 0])


def of_normal(asked):
    spread = asked.attributes["spread"]
    return SIX * np.array([spread, spread**2 * math.sqrt(2), math.sqrt(0.0455 * 0.9545), 0, 0, 0, 0])


def of_truncated(_):
    return SIX * np.array([0.88, math.sqrt(2), math.sqrt(0.1 * 0.9), 0, 0, 0, 0])


def of_whole(asked):
    p = 1 / (asked.attributes["high"] - asked.attributes["low"])
    return SIX * np.array([*[math.sqrt(p * (1 - p))] * round(1 / p), 0.0])


def of_bernoulli(asked):
    p = asked.attributes["p"]
    return SIX * np.array([math.sqrt(p * (1 - p)), 0.0])


def of_dropout(asked):
    rate = asked.attributes["rate"]
    return SIX * np.array([math.sqrt(rate / (1 - rate)), math.sqrt(rate * (1 - rate)), 0.0])


def of_classes(asked):
    p = np.asarray(asked.tensors["weights"])
    return SIX * np.sqrt(p * (1 - p))


def of_rows(asked):
    return np.array([0.0, *of_classes(asked)])


CASE = Sweep(
    claim="A random draw has the distribution that its name says, in each type, and is the same from the same seed.",
    failure="data",
    items={
        # A narrow type's numbers are a lattice: its mean is off by half of its step.
        "uniform": Op(
            forward=uniform, takes=drawn(low=(0.0, -1.0), high=(1.0, 3.0), distinct=DISTINCT), gradient=False, roundings=2, slack=of_uniform
        ),
        "normal": Op(
            forward=normal, takes=drawn(mean=(0.0, 2.0), spread=(1.0, 0.5), distinct=DISTINCT), gradient=False, roundings=2, slack=of_normal
        ),
        "truncated_normal": Op(forward=truncated, takes=drawn(distinct=DISTINCT), gradient=False, roundings=2, slack=of_truncated),
        "whole": Op(forward=whole, takes=drawn(low=(0, -3), high=(2, 7)), gradient=False, dtypes=("int32", "int64"), slack=of_whole),
        "bernoulli": Op(forward=bernoulli, takes=drawn(p=(0.5, 0.125, 0.0, 1.0)), gradient=False, roundings=2, slack=of_bernoulli),
        "dropout": Op(forward=dropout, takes=drawn(rate=(0.5, 0.125, 0.75, 0.0)), gradient=False, roundings=2, slack=of_dropout),
        "categorical": Op(forward=categorical, takes=drawn(weights=True), gradient=False, roundings=2, slack=of_classes),
        "without_return": Op(forward=without_return, takes=drawn(weights=True), gradient=False, roundings=2, slack=of_rows),
        "permutation": Op(forward=permutation, takes=drawn(), gradient=False, dtypes=("int64",)),
    },
)
