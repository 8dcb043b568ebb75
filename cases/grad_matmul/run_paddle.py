import paddle
import paddle.nn.functional as F


def matmul(a, b):
    return paddle.matmul(a, b)


def matmul_batched(a, b):
    return paddle.matmul(a, b)


def matmul_vector(a, b):
    return paddle.matmul(a, b)


def matmul_long(a, b):
    return paddle.matmul(a, b)


def matmul_empty(a, b):
    return paddle.matmul(a, b)


def bmm(a, b):
    return paddle.bmm(a, b)


def mv(a, b):
    return paddle.mv(a, b)


def dot(a, b):
    return paddle.dot(a, b)


def vecdot(a, b):
    return paddle.vecdot(a, b)


def inner(a, b):
    return paddle.inner(a, b)


def outer(a, b):
    return paddle.outer(a, b)


def addmm(c, a, b, beta, alpha):
    return paddle.addmm(c, a, b, beta=beta, alpha=alpha)


def baddbmm(c, a, b, beta, alpha):
    return paddle.baddbmm(c, a, b, beta=beta, alpha=alpha)


def linear(x, weight, bias):
    return F.linear(x, weight.t(), bias)


def linear_long(x, weight, bias):
    return F.linear(x, weight.t(), bias)


def add_row(x, row):
    return x + row


def linear_plain(x, weight):
    return F.linear(x, weight.t())


def bilinear(a, b, weight, bias):
    return F.bilinear(a, b, weight, bias.unsqueeze(0))


def gram(x):
    return x @ paddle.matrix_transpose(x)


def squared(x):
    return x @ x


def multi_dot(a, b, c):
    return paddle.linalg.multi_dot([a, b, c])


def matrix_power(x, n):
    return paddle.linalg.matrix_power(x, n)


def einsum_contract(a, b):
    return paddle.einsum("ij,jk->ik", a, b)


def einsum_attention(a, b):
    return paddle.einsum("bqhd,bkhd->bhqk", a, b)


def einsum_reduced(a, b):
    return paddle.einsum("ijk,jl->i", a, b)


def einsum_repeated(a, b):
    return paddle.einsum("iij,jk->ik", a, b)


def einsum_trace(x):
    return paddle.einsum("bii->b", x)


def einsum_three(a, b, c):
    return paddle.einsum("bi,oij,bj->bo", a, b, c)


def einsum_ellipsis(a, b):
    return paddle.einsum("...ij,jk->...ik", a, b)


def einsum_transpose(x):
    return paddle.einsum("ijk->kij", x)


def einsum_implicit(a, b):
    return paddle.einsum("ki,kj", a, b)


def tensordot(a, b, count):
    return paddle.tensordot(a, b, count)


def tensordot_axes(a, b):
    return paddle.tensordot(a, b, ([0, 2], [1, 0]))


def kron(a, b):
    return paddle.kron(a, b)


def cross(a, b):
    return paddle.cross(a, b, axis=-1)
