import torch


def solve(a, b):
    return torch.linalg.solve(a, b)


def solve_triangular(a, b, lower, transposed, unit):
    a = a.mT if transposed else a
    return torch.linalg.solve_triangular(a, b, upper=lower == transposed, unitriangular=unit)


def inv(a):
    return torch.linalg.inv(a)


def det(a):
    return torch.linalg.det(a)


def slogdet(a):
    return torch.linalg.slogdet(a).logabsdet


def cholesky(a):
    return torch.linalg.cholesky(a @ a.mT)
