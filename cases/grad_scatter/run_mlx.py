import mlx.core as mx


def put_along_axis(x, ids, v, axis):
    return mx.put_along_axis(x, ids, v, axis)


def rows_set(x, ids, v):
    y = mx.array(x)
    y[ids] = v
    return y


def rows_add(x, ids, v):
    return x.at[ids].add(v)


def rows_add_outside(x, ids, v):
    return x.at[ids].add(v)


def rows_multiply(x, ids, v):
    return x.at[ids].multiply(v)


def rows_max(x, ids, v):
    return x.at[ids].maximum(v)


def index_add(x, ids, v, axis):
    return x.at[(slice(None),) * (axis % x.ndim) + (ids,)].add(v)


def index_fill(x, ids, axis):
    y = mx.array(x)
    y[(slice(None),) * (axis % x.ndim) + (ids,)] = 1.5
    return y


def index_put(x, i, j, v):
    y = mx.array(x)
    y[i, j] = v
    return y


def index_put_accumulate(x, i, j, v):
    return x.at[i, j].add(v)


def setitem_mask(x, mask):
    y = mx.array(x)
    y[mask] = 0.5
    return y
