import jax
import jax.numpy as jnp


def cumsum(x, axis):
    return jnp.cumsum(x, axis)


def cumprod(x, axis):
    return jnp.cumprod(x, axis)


def cummax(x, axis):
    return jax.lax.cummax(x, axis % x.ndim)


def cummin(x, axis):
    return jax.lax.cummin(x, axis % x.ndim)


def logcumsumexp(x, axis):
    return jax.lax.cumlogsumexp(x, axis % x.ndim)


def sort(x, axis):
    return jnp.sort(x, axis)


def argsort(x, axis):
    return jnp.argsort(x, axis)


def topk(x, k):
    return jax.lax.top_k(x, k)[0]


def median(x, axis):
    return jnp.median(x, axis)


def quantile(x, axis, q):
    return jnp.quantile(x, q, axis)
