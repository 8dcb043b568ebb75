import paddle


def scatter(x, ids, v, axis):
    return paddle.put_along_axis(x, ids, v, axis, broadcast=False)


def put_along_axis(x, ids, v, axis):
    return paddle.put_along_axis(x, ids, v, axis)


def scatter_add(x, ids, v, axis):
    return paddle.put_along_axis(x, ids, v, axis, "add", broadcast=False)


def scatter_add_outside(x, ids, v, axis):
    return paddle.put_along_axis(x, ids, v, axis, "add", broadcast=False)


def scatter_prod(x, ids, v, axis, include_self):
    return paddle.put_along_axis(x, ids, v, axis, "mul", include_self, broadcast=False)


def scatter_mean(x, ids, v, axis, include_self):
    return paddle.put_along_axis(x, ids, v, axis, "mean", include_self, broadcast=False)


def scatter_max(x, ids, v, axis, include_self):
    return paddle.put_along_axis(x, ids, v, axis, "amax", include_self, broadcast=False)


def scatter_min(x, ids, v, axis, include_self):
    return paddle.put_along_axis(x, ids, v, axis, "amin", include_self, broadcast=False)


def rows_set(x, ids, v):
    return paddle.scatter(x, ids, v)


def rows_add(x, ids, v):
    return paddle.scatter_nd_add(x, ids.unsqueeze(-1), v)


def rows_add_outside(x, ids, v):
    return paddle.scatter_nd_add(x, ids.unsqueeze(-1), v)


def index_add(x, ids, v, axis):
    return paddle.index_add(x, ids, axis, v)


def index_fill(x, ids, axis):
    return paddle.index_fill(x, ids, axis, 1.5)


def index_put(x, i, j, v):
    return paddle.index_put(x, (i, j), v)


def index_put_accumulate(x, i, j, v):
    return paddle.index_put(x, (i, j), v, accumulate=True)


def masked_scatter(x, v, mask):
    return paddle.masked_scatter(x, mask, v)


def setitem_mask(x, mask):
    y = x.clone()
    y[mask] = 0.5
    return y


def segment_sum(x, ids, count):  # noqa: ARG001  it is one more than the last id
    return paddle.geometric.segment_sum(x, ids)


def segment_mean(x, ids, count):  # noqa: ARG001  it is one more than the last id
    return paddle.geometric.segment_mean(x, ids)


def segment_max(x, ids, count):  # noqa: ARG001  it is one more than the last id
    return paddle.geometric.segment_max(x, ids)
