"""Sums of products: of matrices and vectors, over batches that broadcast, and over sums that a narrow type cannot count."""

import numpy as np

from harness.sweep.op import Op, Sweep
from harness.sweep.products import batched, empty, lettered, longest, whole_matrices


def matmul(a, b):
    return np.matmul(a, b)


def dot(a, b):
    return a @ b


def inner(a, b):
    return np.inner(a, b)


def outer(a, b):
    return np.outer(a, b)


def addmm(c, a, b, beta, alpha):
    return beta * c + alpha * (a @ b)


def linear(x, weight, bias):
    return x @ weight.T + bias


def linear_plain(x, weight):
    return x @ weight.T


def add_row(x, row):
    """A bias without its product: what is added to every row gets the sum of all of them."""
    return x + row


def bilinear(a, b, weight, bias):
    return np.einsum("...i,oij,...j->...o", a, weight, b) + bias


def gram(x):
    return x @ x.swapaxes(-1, -2)


def squared(x):
    return x @ x


def multi_dot(a, b, c):
    return a @ b @ c


def matrix_power(x, n):
    return np.linalg.matrix_power(x, n)


def einsum_contract(a, b):
    return np.einsum("ij,jk->ik", a, b)


def einsum_attention(a, b):
    return np.einsum("bqhd,bkhd->bhqk", a, b)


def einsum_reduced(a, b):
    """An axis of each is summed by itself."""
    return np.einsum("ijk,jl->i", a, b)


def einsum_repeated(a, b):
    """A diagonal."""
    return np.einsum("iij,jk->ik", a, b)


def einsum_trace(x):
    return np.einsum("bii->b", x)


def einsum_three(a, b, c):
    return np.einsum("bi,oij,bj->bo", a, b, c)


def einsum_ellipsis(a, b):
    return np.einsum("...ij,jk->...ik", a, b)


def einsum_transpose(x):
    return np.einsum("ijk->kij", x)


def einsum_implicit(a, b):
    """Without an arrow the letters that stand once are kept, in the alphabet's order."""
    return np.einsum("ki,kj", a, b)


def tensordot(a, b, count):
    return np.tensordot(a, b, count)


def tensordot_axes(a, b):
    return np.tensordot(a, b, ([0, 2], [1, 0]))


def kron(a, b):
    return np.kron(a, b)


def cross(a, b):
    return np.cross(a, b)


def vecdot(a, b):
    return (a * b).sum(-1)


RANKS = ((3, 3), (3, 2), (2, 3), (4, 4), (4, 3), (4, 2))
VECTORS = ((1, 2), (2, 1), (1, 1), (1, 3), (3, 1))
SCALES = {"beta": (1.0, 0.5, 0.0, -2.0), "alpha": (1.0, 0.5, 0.0, -2.0)}

CASE = Sweep(
    claim="Each sum of products has the value and the gradients of its definition, as good as one rounding of a sum in float32 or better.",
    failure="wrong-gradient",
    items={
        "matmul": Op(forward=matmul, takes=batched((2, 2)), terms=longest),
        "matmul_batched": Op(forward=matmul, takes=batched(*RANKS), terms=longest),
        "matmul_vector": Op(forward=matmul, takes=batched(*VECTORS), terms=longest),
        "matmul_long": Op(forward=matmul, takes=lettered(a="ij", b="jk", long="jik"), terms=longest),
        "matmul_empty": Op(forward=matmul, takes=empty),
        "matmul_whole": Op(forward=matmul, takes=whole_matrices, dtypes=("int64", "int32"), gradient=False),
        "bmm": Op(forward=matmul, takes=lettered(a="bij", b="bjk", long="j"), terms=longest),
        "mv": Op(forward=matmul, takes=lettered(a="ij", b="j", long="ji"), terms=longest),
        "dot": Op(forward=dot, takes=lettered(a="i", b="i", long="i"), terms=longest),
        "vecdot": Op(forward=vecdot, takes=lettered(a="Bi", b="bi", long="ib"), terms=longest),
        "inner": Op(forward=inner, takes=lettered(a=".i", b="ji", long="i"), terms=longest),
        "outer": Op(forward=outer, takes=lettered(a="i", b="j", long="ij"), terms=longest),
        # The product, both scalings and the sum: four roundings, and with a low-precision scale one more.
        "addmm": Op(forward=addmm, takes=lettered(c="IK", a="ij", b="jk", long="ji", attributes=SCALES), terms=longest, roundings=6),
        "baddbmm": Op(forward=addmm, takes=lettered(c="bik", a="bij", b="bjk", attributes=SCALES), terms=longest, roundings=6),
        "linear": Op(forward=linear, takes=lettered(x=".i", weight="oi", bias="o"), terms=longest),
        "linear_long": Op(forward=linear, takes=lettered(x="ni", weight="oi", bias="o", long="ni"), terms=longest),
        "add_row": Op(forward=add_row, takes=lettered(x="ni", row="i", long="ni"), terms=longest),
        "linear_plain": Op(forward=linear_plain, takes=lettered(x=".i", weight="oi"), terms=longest),
        "bilinear": Op(forward=bilinear, takes=lettered(a="ni", b="nj", weight="oij", bias="o"), terms=longest, roundings=6),
        "gram": Op(forward=gram, takes=lettered(x=".ij"), terms=longest),
        "squared": Op(forward=squared, takes=lettered(x=".ii"), terms=longest),
        "multi_dot": Op(forward=multi_dot, takes=lettered(a="ij", b="jk", c="kl"), terms=longest, roundings=6),
        "matrix_power": Op(forward=matrix_power, takes=lettered(x="ii", attributes={"n": (2, 3, 1, 0, 5)}), terms=longest, roundings=12),
        "einsum_contract": Op(forward=einsum_contract, takes=lettered(a="ij", b="jk", long="jk"), terms=longest),
        "einsum_attention": Op(forward=einsum_attention, takes=lettered(a="bqhd", b="bkhd", long="d"), terms=longest),
        "einsum_reduced": Op(forward=einsum_reduced, takes=lettered(a="ijk", b="jl", long="lk"), terms=longest, roundings=6),
        "einsum_repeated": Op(forward=einsum_repeated, takes=lettered(a="iij", b="jk"), terms=longest),
        "einsum_trace": Op(forward=einsum_trace, takes=lettered(x="bii"), terms=longest),
        "einsum_three": Op(forward=einsum_three, takes=lettered(a="bi", b="oij", c="bj"), terms=longest, roundings=6),
        "einsum_ellipsis": Op(forward=einsum_ellipsis, takes=lettered(a=".ij", b="jk"), terms=longest),
        "einsum_transpose": Op(forward=einsum_transpose, takes=lettered(x="ijk")),
        "einsum_implicit": Op(forward=einsum_implicit, takes=lettered(a="ki", b="kj"), terms=longest),
        "tensordot": Op(forward=tensordot, takes=lettered(a="ijk", b="jkl", attributes={"count": (2,)}), terms=longest),
        "tensordot_axes": Op(forward=tensordot_axes, takes=lettered(a="ijk", b="kil"), terms=longest),
        "kron": Op(forward=kron, takes=lettered(a="ij", b="kl"), terms=longest),
        "cross": Op(forward=cross, takes=lettered(sizes=(3,), a="bi", b="bi")),
    },
)
