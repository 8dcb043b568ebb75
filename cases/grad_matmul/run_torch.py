import torch
import torch.nn.functional as F


def matmul(a, b):
    return torch.matmul(a, b)


def matmul_batched(a, b):
    return torch.matmul(a, b)


def matmul_vector(a, b):
    return torch.matmul(a, b)


def matmul_long(a, b):
    return torch.matmul(a, b)


def matmul_empty(a, b):
    return torch.matmul(a, b)


def matmul_whole(a, b):
    return torch.matmul(a, b)


def bmm(a, b):
    return torch.bmm(a, b)


def mv(a, b):
    return torch.mv(a, b)


def dot(a, b):
    return torch.dot(a, b)


def vecdot(a, b):
    return torch.linalg.vecdot(a, b)


def inner(a, b):
    return torch.inner(a, b)


def outer(a, b):
    return torch.outer(a, b)


def addmm(c, a, b, beta, alpha):
    return torch.addmm(c, a, b, beta=beta, alpha=alpha)


def baddbmm(c, a, b, beta, alpha):
    return torch.baddbmm(c, a, b, beta=beta, alpha=alpha)


def linear(x, weight, bias):
    return F.linear(x, weight, bias)


def linear_long(x, weight, bias):
    return F.linear(x, weight, bias)


def add_row(x, row):
    return x + row


def linear_plain(x, weight):
    return F.linear(x, weight)


def bilinear(a, b, weight, bias):
    return F.bilinear(a, b, weight, bias)


def gram(x):
    return x @ x.mT


def squared(x):
    return x @ x


def multi_dot(a, b, c):
    return torch.linalg.multi_dot([a, b, c])


def matrix_power(x, n):
    return torch.linalg.matrix_power(x, n)


def einsum_contract(a, b):
    return torch.einsum("ij,jk->ik", a, b)


def einsum_attention(a, b):
    return torch.einsum("bqhd,bkhd->bhqk", a, b)


def einsum_reduced(a, b):
    return torch.einsum("ijk,jl->i", a, b)


def einsum_repeated(a, b):
    return torch.einsum("iij,jk->ik", a, b)


def einsum_trace(x):
    return torch.einsum("bii->b", x)


def einsum_three(a, b, c):
    return torch.einsum("bi,oij,bj->bo", a, b, c)


def einsum_ellipsis(a, b):
    return torch.einsum("...ij,jk->...ik", a, b)


def einsum_transpose(x):
    return torch.einsum("ijk->kij", x)


def einsum_implicit(a, b):
    return torch.einsum("ki,kj", a, b)


def tensordot(a, b, count):
    return torch.tensordot(a, b, count)


def tensordot_axes(a, b):
    return torch.tensordot(a, b, ([0, 2], [1, 0]))


def kron(a, b):
    return torch.kron(a, b)


def cross(a, b):
    return torch.linalg.cross(a, b)
