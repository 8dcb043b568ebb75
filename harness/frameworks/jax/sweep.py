"""jax: gradients of any function of arrays. Its arrays have no strides to see through: a view is a computation, and is asked as one."""

import jax
import jax.numpy as jnp


def view(buffer, layout, shape):
    if layout == "transposed":
        return jnp.swapaxes(buffer, -1, -2)
    if layout == "strided":
        return buffer[..., ::2]
    if layout == "offset":
        return buffer[1:]
    return jnp.broadcast_to(buffer, shape) if layout == "broadcast" else buffer


def gradients(function, floats, upstream):
    y, pullback = jax.vjp(lambda given: function(**given), floats)
    (given,) = pullback(upstream)
    return {"y": y, **{f"d{name}": gradient for name, gradient in given.items()}}
