import jax
import jax.numpy as jnp


def cat(a, b, c, axis):
    return jnp.concatenate([a, b, c], axis)


def stack(a, b, axis):
    return jnp.stack([a, b], axis)


def split(x, axis, sizes, part):
    return jnp.split(x, [sizes[0], sizes[0] + sizes[1]], axis)[part]


def unstack(x, axis):
    return jnp.unstack(x, axis=axis)[-1]


def tile(x, counts):
    return jnp.tile(x, counts)


def repeat_interleave(x, axis, count):
    return jnp.repeat(x, count, axis)


def repeat_each(x, axis):
    return jnp.repeat(x, jnp.arange(x.shape[axis]), axis)


def broadcast_to(x, shape):
    return jnp.broadcast_to(x, shape)


def flip(x, axes):
    return jnp.flip(x, axes)


def roll(x, axes, shifts):
    return jnp.roll(x, shifts, axes)


def roll_flat(x, shift):
    return jnp.roll(x, shift)


def rot90(x, turns):
    return jnp.rot90(x, turns)


def permute(x, order):
    return jnp.transpose(x, order)


def swapaxes(x, axis1, axis2):
    return jnp.swapaxes(x, axis1, axis2)


def moveaxis(x, axis1, axis2):
    return jnp.moveaxis(x, axis1, axis2)


def reshape(x, shape):
    return jnp.reshape(x, shape)


def flatten(x):
    return jax.lax.collapse(x, 1)


def unflatten(x, sizes):
    return x.reshape(*x.shape[:-1], *sizes)


def squeeze(x, axis):
    return jnp.squeeze(x, axis)


def unsqueeze(x, axis):
    return jnp.expand_dims(x, axis)


def views(x, order):
    return jnp.flip(x.transpose(order)[1:, ..., ::2], -1).reshape(-1)[1:]


def meshgrid(a, b, indexing):
    return jnp.concatenate([part.ravel() for part in jnp.meshgrid(a, b, indexing=indexing)])


def block_diag(a, b):
    return jax.scipy.linalg.block_diag(a, b)


def clone(x):
    return jnp.copy(x) + x


def cast(x, through):
    return x.astype(through).astype(x.dtype)


def cast_factor(x, through):
    return x * x.astype(through).astype(x.dtype)


def detach_sum(x):
    return x + jax.lax.stop_gradient(x * x)


def detach_factor(a, b):
    return a * b * jax.lax.stop_gradient(b)


def straight_through(x):
    return x + jax.lax.stop_gradient(jnp.round(x) - x)
