import paddle


def solve(a, b):
    return paddle.linalg.solve(a, b)


def solve_triangular(a, b, lower, transposed, unit):
    return paddle.linalg.triangular_solve(a, b, upper=not lower, transpose=transposed, unitriangular=unit)


def inv(a):
    return paddle.linalg.inv(a)


def det(a):
    return paddle.linalg.det(a)


def slogdet(a):
    return paddle.linalg.slogdet(a)[1]


def cholesky(a):
    return paddle.linalg.cholesky(a @ paddle.matrix_transpose(a))
