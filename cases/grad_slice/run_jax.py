import jax
import jax.numpy as jnp


def _all(x, pads):
    return [(0, 0)] * (x.ndim - len(pads)) + pads


def _cuts(slices):
    return tuple(slice(*of) for of in slices)


def pad_constant(x, pads, value):
    return jnp.pad(x, pads, constant_values=value)


def pad_crop(x, pads):
    return jax.lax.pad(x, jnp.zeros((), x.dtype), [(*pair, 0) for pair in pads])


def pad_reflect(x, pads):
    return jnp.pad(x, _all(x, pads), "reflect")


def pad_replicate(x, pads):
    return jnp.pad(x, _all(x, pads), "edge")


def pad_circular(x, pads):
    return jnp.pad(x, _all(x, pads), "wrap")


def pad_symmetric(x, pads):
    return jnp.pad(x, _all(x, pads), "symmetric")


def narrow(x, axis, start, length):
    return jax.lax.dynamic_slice_in_dim(x, start, length, axis)


def narrow_outside(x, axis, start, length):
    return jax.lax.dynamic_slice_in_dim(x, start, length, axis)


def slice_update(x, v, axis, start):
    return jax.lax.dynamic_update_slice_in_dim(x, v, start, axis)


def slice_update_outside(x, v, axis, start):
    return jax.lax.dynamic_update_slice_in_dim(x, v, start, axis)


def slice_step(x, slices):
    return x[_cuts(slices)]


def slice_backward(x, slices):
    return x[_cuts(slices)]


def slice_new_axis(x, slices):
    return x[..., None, slice(*slices[-1])]


def slice_assign(x, v, slices):
    return x.at[_cuts(slices)].set(v)


def slice_add_assign(x, v, slices):
    return x.at[_cuts(slices)].add(v)


def assign_overlap(x, axis, by, forward):
    z = jnp.swapaxes(x, 0, axis)
    z = z.at[by:].set(z[:-by]) if forward else z.at[:-by].set(z[by:])
    return jnp.swapaxes(z, 0, axis)


def tril(x, k):
    return jnp.tril(x, k)


def triu(x, k):
    return jnp.triu(x, k)


def diagonal(x, axis1, axis2, offset):
    return jnp.diagonal(x, offset, axis1, axis2)


def diag(x, k):
    return jnp.diag(x, k)


def trace(x):
    return jnp.trace(x)


def diff(x, axis, count):
    return jnp.diff(x, count, axis)
