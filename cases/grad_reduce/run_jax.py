import jax
import jax.numpy as jnp


def sum(x, axes, keepdims):
    return jnp.sum(x, _axes(axes), keepdims=keepdims)


def mean(x, axes, keepdims):
    return jnp.mean(x, _axes(axes), keepdims=keepdims)


def nansum(x, axes, keepdims):
    return jnp.nansum(x, _axes(axes), keepdims=keepdims)


def prod(x, axis, keepdims):
    return jnp.prod(x, axis, keepdims=keepdims)


def max(x, axis, keepdims):
    return jnp.max(x, axis, keepdims=keepdims)


def min(x, axis, keepdims):
    return jnp.min(x, axis, keepdims=keepdims)


def amax(x, axes, keepdims):
    return jnp.max(x, _axes(axes), keepdims=keepdims)


def amin(x, axes, keepdims):
    return jnp.min(x, _axes(axes), keepdims=keepdims)


def var(x, axes, correction, keepdims):
    return jnp.var(x, _axes(axes), ddof=correction, keepdims=keepdims)


def std(x, axes, correction, keepdims):
    return jnp.std(x, _axes(axes), ddof=correction, keepdims=keepdims)


def norm_l1(x, axes, keepdims):
    return jnp.linalg.vector_norm(x, ord=1, axis=_axes(axes), keepdims=keepdims)


def norm_l2(x, axes, keepdims):
    return jnp.linalg.vector_norm(x, ord=2, axis=_axes(axes), keepdims=keepdims)


def norm_l3(x, axes, keepdims):
    return jnp.linalg.vector_norm(x, ord=3, axis=_axes(axes), keepdims=keepdims)


def norm_linf(x, axes, keepdims):
    return jnp.linalg.vector_norm(x, ord=jnp.inf, axis=_axes(axes), keepdims=keepdims)


def vecdot(a, b):
    return jnp.vecdot(a, b)


def logsumexp(x, axes, keepdims):
    return jax.nn.logsumexp(x, _axes(axes), keepdims=keepdims)


def softmax(x, axis):
    return jax.nn.softmax(x, axis)


def log_softmax(x, axis):
    return jax.nn.log_softmax(x, axis)


def any(x, axes, keepdims):
    return jnp.any(x, _axes(axes), keepdims=keepdims)


def all(x, axes, keepdims):
    return jnp.all(x, _axes(axes), keepdims=keepdims)


def count_nonzero(x, axes):
    return jnp.count_nonzero(x, _axes(axes))


def argmax(x, axis, keepdims):
    return jnp.argmax(x, axis, keepdims=keepdims)


def argmin(x, axis, keepdims):
    return jnp.argmin(x, axis, keepdims=keepdims)


def _axes(axes):
    return axes if axes is None else tuple(axes)
