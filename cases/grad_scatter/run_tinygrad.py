def scatter(x, ids, v, axis):
    return x.scatter(axis, ids, v)


def scatter_add(x, ids, v, axis):
    return x.scatter_reduce(axis, ids, v, "sum")


def scatter_add_outside(x, ids, v, axis):
    return x.scatter_reduce(axis, ids, v, "sum")


def scatter_prod(x, ids, v, axis, include_self):
    return x.scatter_reduce(axis, ids, v, "prod", include_self=include_self)


def scatter_mean(x, ids, v, axis, include_self):
    return x.scatter_reduce(axis, ids, v, "mean", include_self=include_self)


def scatter_max(x, ids, v, axis, include_self):
    return x.scatter_reduce(axis, ids, v, "amax", include_self=include_self)


def scatter_min(x, ids, v, axis, include_self):
    return x.scatter_reduce(axis, ids, v, "amin", include_self=include_self)


def rows_set(x, ids, v):
    y = x.clone()
    y[ids] = v
    return y


def index_fill(x, ids, axis):
    y = x.clone()
    y[(slice(None),) * (axis % x.ndim) + (ids,)] = 1.5
    return y


def index_put(x, i, j, v):
    y = x.clone()
    y[i, j] = v
    return y
