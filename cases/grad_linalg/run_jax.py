import jax
import jax.numpy as jnp


def solve(a, b):
    return jnp.linalg.solve(a, b)


def solve_triangular(a, b, lower, transposed, unit):
    return jax.scipy.linalg.solve_triangular(a, b, trans=int(transposed), lower=lower, unit_diagonal=unit)


def inv(a):
    return jnp.linalg.inv(a)


def det(a):
    return jnp.linalg.det(a)


def slogdet(a):
    return jnp.linalg.slogdet(a).logabsdet


def cholesky(a):
    return jnp.linalg.cholesky(a @ a.mT)
