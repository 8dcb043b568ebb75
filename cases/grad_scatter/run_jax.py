import jax
import jax.numpy as jnp


def put_along_axis(x, ids, v, axis):
    return jnp.put_along_axis(x, ids, v, axis=axis, inplace=False)


def rows_set(x, ids, v):
    return x.at[ids].set(v)


def rows_add(x, ids, v):
    return x.at[ids].add(v)


def rows_add_outside(x, ids, v):
    return x.at[ids].add(v)


def rows_multiply(x, ids, v):
    return x.at[ids].multiply(v)


def rows_max(x, ids, v):
    return x.at[ids].max(v)


def index_add(x, ids, v, axis):
    return x.at[(slice(None),) * (axis % x.ndim) + (ids,)].add(v)


def index_fill(x, ids, axis):
    return x.at[(slice(None),) * (axis % x.ndim) + (ids,)].set(1.5)


def index_put(x, i, j, v):
    return x.at[i, j].set(v)


def index_put_accumulate(x, i, j, v):
    return x.at[i, j].add(v)


def setitem_mask(x, mask):
    return x.at[mask].set(0.5)


def segment_sum(x, ids, count):
    return jax.ops.segment_sum(x, ids, count)


def segment_sum_outside(x, ids, count):
    return jax.ops.segment_sum(x, ids, count)


def segment_max(x, ids, count):
    return jax.ops.segment_max(x, ids, count)


def segment_prod(x, ids, count):
    return jax.ops.segment_prod(x, ids, count)
