import jax
import jax.numpy as jnp


def index_select(x, ids, axis):
    return jnp.take(x, ids, axis=axis)


def index_select_outside(x, ids, axis):
    return jnp.take(x, ids, axis=axis)


def take_flat(x, ids):
    return jnp.take(x, ids)


def getitem_rows(x, ids):
    return x[ids]


def getitem_rows_outside(x, ids):
    return x[ids]


def getitem_narrow(x, ids):
    return x[ids]


def getitem_pair(x, i, j):
    return x[i, j]


def getitem_apart(x, i, j):
    return x[i, :, j]


def getitem_mask(x, mask):
    return x[mask]


def masked_select(x, mask):
    return x[jnp.broadcast_to(mask, x.shape)]


def select(x, axis, index):
    return jax.lax.index_in_dim(x, index, axis, keepdims=False)


def take_along_axis(x, ids, axis):
    return jnp.take_along_axis(x, ids, axis=axis)


def take_along_axis_outside(x, ids, axis):
    return jnp.take_along_axis(x, ids, axis=axis)


def embedding(table, ids):
    return jnp.take(table, ids, axis=0)


def embedding_outside(table, ids):
    return jnp.take(table, ids, axis=0)


def masked_fill(x, mask, value):
    return jnp.where(mask, value, x)


def where(a, b, mask):
    return jnp.where(mask, a, b)


def one_hot(ids, count):
    return jax.nn.one_hot(ids, count)


def one_hot_outside(ids, count):
    return jax.nn.one_hot(ids, count)


def searchsorted(x, v, right):
    return jnp.searchsorted(x, v, side="right" if right else "left")


def bincount(ids, count):
    return jnp.bincount(ids, minlength=count)
