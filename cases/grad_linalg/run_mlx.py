import mlx.core as mx


def solve(a, b):
    return mx.linalg.solve(a, b)


def inv(a):
    return mx.linalg.inv(a)


def det(a):
    return mx.linalg.det(a)


def slogdet(a):
    return mx.linalg.slogdet(a)[1]


def cholesky(a):
    return mx.linalg.cholesky(a @ mx.matrix_transpose(a))
