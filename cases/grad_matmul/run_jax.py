import jax.numpy as jnp


def matmul(a, b):
    return jnp.matmul(a, b)


def matmul_batched(a, b):
    return jnp.matmul(a, b)


def matmul_vector(a, b):
    return jnp.matmul(a, b)


def matmul_long(a, b):
    return jnp.matmul(a, b)


def matmul_empty(a, b):
    return jnp.matmul(a, b)


def matmul_whole(a, b):
    return jnp.matmul(a, b)


def dot(a, b):
    return jnp.dot(a, b)


def mv(a, b):
    return jnp.matvec(a, b)


def vecdot(a, b):
    return jnp.vecdot(a, b)


def inner(a, b):
    return jnp.inner(a, b)


def outer(a, b):
    return jnp.outer(a, b)


def linear(x, weight, bias):
    return x @ weight.T + bias


def linear_long(x, weight, bias):
    return x @ weight.T + bias


def add_row(x, row):
    return x + row


def linear_plain(x, weight):
    return x @ weight.T


def gram(x):
    return x @ x.mT


def squared(x):
    return x @ x


def multi_dot(a, b, c):
    return jnp.linalg.multi_dot([a, b, c])


def matrix_power(x, n):
    return jnp.linalg.matrix_power(x, n)


def einsum_contract(a, b):
    return jnp.einsum("ij,jk->ik", a, b)


def einsum_attention(a, b):
    return jnp.einsum("bqhd,bkhd->bhqk", a, b)


def einsum_reduced(a, b):
    return jnp.einsum("ijk,jl->i", a, b)


def einsum_repeated(a, b):
    return jnp.einsum("iij,jk->ik", a, b)


def einsum_trace(x):
    return jnp.einsum("bii->b", x)


def einsum_three(a, b, c):
    return jnp.einsum("bi,oij,bj->bo", a, b, c)


def einsum_ellipsis(a, b):
    return jnp.einsum("...ij,jk->...ik", a, b)


def einsum_transpose(x):
    return jnp.einsum("ijk->kij", x)


def einsum_implicit(a, b):
    return jnp.einsum("ki,kj", a, b)


def tensordot(a, b, count):
    return jnp.tensordot(a, b, count)


def tensordot_axes(a, b):
    return jnp.tensordot(a, b, ([0, 2], [1, 0]))


def kron(a, b):
    return jnp.kron(a, b)


def cross(a, b):
    return jnp.cross(a, b)
