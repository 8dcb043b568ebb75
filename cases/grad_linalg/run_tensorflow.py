import tensorflow as tf


def solve(a, b):
    return tf.linalg.solve(a, b)


def inv(a):
    return tf.linalg.inv(a)


def det(a):
    return tf.linalg.det(a)


def slogdet(a):
    return tf.linalg.slogdet(a).log_abs_determinant


def cholesky(a):
    return tf.linalg.cholesky(tf.matmul(a, a, transpose_b=True))
