import mlx.core as mx


def matmul(a, b):
    return mx.matmul(a, b)


def matmul_batched(a, b):
    return mx.matmul(a, b)


def matmul_vector(a, b):
    return mx.matmul(a, b)


def matmul_long(a, b):
    return mx.matmul(a, b)


def matmul_empty(a, b):
    return mx.matmul(a, b)


def dot(a, b):
    return a @ b


def mv(a, b):
    return a @ b


def vecdot(a, b):
    return mx.vecdot(a, b)


def inner(a, b):
    return mx.inner(a, b)


def outer(a, b):
    return mx.outer(a, b)


def addmm(c, a, b, beta, alpha):
    return mx.addmm(c, a, b, alpha, beta)


def baddbmm(c, a, b, beta, alpha):
    return mx.addmm(c, a, b, alpha, beta)


def linear(x, weight, bias):
    return mx.addmm(bias, x, weight.T)


def linear_long(x, weight, bias):
    return mx.addmm(bias, x, weight.T)


def add_row(x, row):
    return x + row


def linear_plain(x, weight):
    return x @ weight.T


def gram(x):
    return x @ mx.matrix_transpose(x)


def squared(x):
    return x @ x


def einsum_contract(a, b):
    return mx.einsum("ij,jk->ik", a, b)


def einsum_attention(a, b):
    return mx.einsum("bqhd,bkhd->bhqk", a, b)


def einsum_reduced(a, b):
    return mx.einsum("ijk,jl->i", a, b)


def einsum_repeated(a, b):
    return mx.einsum("iij,jk->ik", a, b)


def einsum_trace(x):
    return mx.einsum("bii->b", x)


def einsum_three(a, b, c):
    return mx.einsum("bi,oij,bj->bo", a, b, c)


def einsum_ellipsis(a, b):
    return mx.einsum("...ij,jk->...ik", a, b)


def einsum_transpose(x):
    return mx.einsum("ijk->kij", x)


def einsum_implicit(a, b):
    return mx.einsum("ki,kj", a, b)


def tensordot(a, b, count):
    return mx.tensordot(a, b, count)


def tensordot_axes(a, b):
    return mx.tensordot(a, b, [[0, 2], [1, 0]])


def kron(a, b):
    return mx.kron(a, b)


def cross(a, b):
    return mx.linalg.cross(a, b)
