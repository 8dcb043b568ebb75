from tinygrad import Tensor


def matmul(a, b):
    return a.matmul(b)


def matmul_batched(a, b):
    return a.matmul(b)


def matmul_vector(a, b):
    return a.matmul(b)


def matmul_long(a, b):
    return a.matmul(b)


def matmul_empty(a, b):
    return a.matmul(b)


def matmul_whole(a, b):
    return a.matmul(b)


def bmm(a, b):
    return a.matmul(b)


def mv(a, b):
    return a.dot(b)


def dot(a, b):
    return a.dot(b)


def linear(x, weight, bias):
    return x.linear(weight.T, bias)


def linear_long(x, weight, bias):
    return x.linear(weight.T, bias)


def add_row(x, row):
    return x + row


def linear_plain(x, weight):
    return x.linear(weight.T)


def gram(x):
    return x @ x.transpose(-1, -2)


def squared(x):
    return x @ x


def einsum_contract(a, b):
    return Tensor.einsum("ij,jk->ik", a, b)


def einsum_attention(a, b):
    return Tensor.einsum("bqhd,bkhd->bhqk", a, b)


def einsum_reduced(a, b):
    return Tensor.einsum("ijk,jl->i", a, b)


def einsum_repeated(a, b):
    return Tensor.einsum("iij,jk->ik", a, b)


def einsum_trace(x):
    return Tensor.einsum("bii->b", x)


def einsum_three(a, b, c):
    return Tensor.einsum("bi,oij,bj->bo", a, b, c)


def einsum_ellipsis(a, b):
    return Tensor.einsum("...ij,jk->...ik", a, b)


def einsum_transpose(x):
    return Tensor.einsum("ijk->kij", x)


def einsum_implicit(a, b):
    return Tensor.einsum("ki,kj", a, b)
