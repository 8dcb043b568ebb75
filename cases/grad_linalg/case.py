"""Equations of matrices that are far from singular; each is symmetric or positive by how it is made, so that no gradient depends on a convention."""

import numpy as np

from harness.sweep.op import Op, Sweep
from harness.sweep.products import square

WIDE = ("float64", "float32")  # what the frameworks' solvers take
# Four rows or fewer: elimination and its two substitutions are 3 n roundings in series, and their backward is as many again.
SOLVED = 24


def solve(a, b):
    return np.linalg.solve(a, b)


def solve_triangular(a, b, lower, transposed, unit):
    """The other half of ``a`` is not read, with ``unit`` its diagonal neither."""
    half = np.tril(a) if lower else np.triu(a)
    if unit:
        half = half * (1 - np.eye(a.shape[-1])) + np.eye(a.shape[-1])
    return np.linalg.solve(half.swapaxes(-1, -2) if transposed else half, b)


def inv(a):
    return np.linalg.inv(a)


def det(a):
    return np.linalg.det(a)


def slogdet(a):
    return np.linalg.slogdet(a)[1]


def positive(a):
    return a @ a.swapaxes(-1, -2)


def cholesky(a):
    return np.linalg.cholesky(positive(a))


CASE = Sweep(
    claim="Each solution, inverse, determinant or factor has the value and the gradients of its definition.",
    failure="wrong-gradient",
    items={
        "solve": Op(forward=solve, takes=square("b"), dtypes=WIDE, roundings=SOLVED),
        "solve_triangular": Op(
            forward=solve_triangular,
            takes=square("b", {"lower": (True, False), "transposed": (False, True), "unit": (False, True)}),
            dtypes=WIDE,
            roundings=SOLVED,
        ),
        "inv": Op(forward=inv, takes=square(), dtypes=WIDE, roundings=SOLVED),
        "det": Op(forward=det, takes=square(), dtypes=WIDE, roundings=SOLVED),
        "slogdet": Op(forward=slogdet, takes=square(), dtypes=WIDE, roundings=SOLVED),
        "cholesky": Op(forward=cholesky, takes=square(), dtypes=WIDE, roundings=SOLVED),
    },
)
