import tensorflow as tf


def matmul(a, b):
    return tf.matmul(a, b)


def matmul_batched(a, b):
    return tf.matmul(a, b)


def matmul_long(a, b):
    return tf.matmul(a, b)


def matmul_empty(a, b):
    return tf.matmul(a, b)


def matmul_whole(a, b):
    return tf.matmul(a, b)


def squared(x):
    return x @ x


def einsum_contract(a, b):
    return tf.einsum("ij,jk->ik", a, b)


def einsum_attention(a, b):
    return tf.einsum("bqhd,bkhd->bhqk", a, b)


def einsum_reduced(a, b):
    return tf.einsum("ijk,jl->i", a, b)


def einsum_repeated(a, b):
    return tf.einsum("iij,jk->ik", a, b)


def einsum_trace(x):
    return tf.einsum("bii->b", x)


def einsum_three(a, b, c):
    return tf.einsum("bi,oij,bj->bo", a, b, c)


def einsum_ellipsis(a, b):
    return tf.einsum("...ij,jk->...ik", a, b)


def einsum_transpose(x):
    return tf.einsum("ijk->kij", x)


def einsum_implicit(a, b):
    return tf.einsum("ki,kj", a, b)


def tensordot(a, b, count):
    return tf.tensordot(a, b, count)


def tensordot_axes(a, b):
    return tf.tensordot(a, b, ([0, 2], [1, 0]))


def mv(a, b):
    return tf.linalg.matvec(a, b)


def dot(a, b):
    return tf.tensordot(a, b, 1)


def outer(a, b):
    return tf.tensordot(a, b, 0)


def linear(x, weight, bias):
    return tf.tensordot(x, weight, [[-1], [1]]) + bias


def linear_long(x, weight, bias):
    return tf.nn.bias_add(tf.matmul(x, weight, transpose_b=True), bias)


def add_row(x, row):
    return x + row


def linear_plain(x, weight):
    return tf.tensordot(x, weight, [[-1], [1]])


def gram(x):
    return tf.matmul(x, x, transpose_b=True)


def cross(a, b):
    return tf.linalg.cross(a, b)
