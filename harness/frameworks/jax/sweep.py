"""jax: gradients of any function of arrays. Its arrays have no strides to see through: a view is a computation."""

import jax

LAYOUTS = ("contiguous",)


def view(buffer, layout, shape):
    return buffer


def gradients(function, floats, upstream):
    y, pullback = jax.vjp(lambda given: function(**given), floats)
    (given,) = pullback(upstream)
    return {"y": y, **{f"d{name}": gradient for name, gradient in given.items()}}
