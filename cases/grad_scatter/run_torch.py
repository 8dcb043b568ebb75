import torch


def scatter(x, ids, v, axis):
    return torch.scatter(x, axis, ids.long(), v)


def scatter_add(x, ids, v, axis):
    return torch.scatter_add(x, axis, ids.long(), v)


def scatter_add_outside(x, ids, v, axis):
    return torch.scatter_add(x, axis, ids.long(), v)


def scatter_prod(x, ids, v, axis, include_self):
    return torch.scatter_reduce(x, axis, ids.long(), v, "prod", include_self=include_self)


def scatter_mean(x, ids, v, axis, include_self):
    return torch.scatter_reduce(x, axis, ids.long(), v, "mean", include_self=include_self)


def scatter_max(x, ids, v, axis, include_self):
    return torch.scatter_reduce(x, axis, ids.long(), v, "amax", include_self=include_self)


def scatter_min(x, ids, v, axis, include_self):
    return torch.scatter_reduce(x, axis, ids.long(), v, "amin", include_self=include_self)


def rows_set(x, ids, v):
    return torch.index_copy(x, 0, ids.long(), v)


def rows_add(x, ids, v):
    return torch.index_add(x, 0, ids, v)


def rows_add_outside(x, ids, v):
    return torch.index_add(x, 0, ids, v)


def rows_multiply(x, ids, v):
    return torch.index_reduce(x, 0, ids.long(), v, "prod")


def rows_max(x, ids, v):
    return torch.index_reduce(x, 0, ids.long(), v, "amax")


def index_add(x, ids, v, axis):
    return torch.index_add(x, axis, ids, v)


def index_fill(x, ids, axis):
    return torch.index_fill(x, axis, ids.long(), 1.5)


def index_put(x, i, j, v):
    return torch.index_put(x, (i, j), v)


def index_put_accumulate(x, i, j, v):
    return torch.index_put(x, (i, j), v, accumulate=True)


def masked_scatter(x, v, mask):
    return torch.masked_scatter(x, mask, v)


def setitem_mask(x, mask):
    y = x.clone()
    y[mask] = 0.5
    return y


def segment_sum(x, ids, count):
    return torch.segment_reduce(x, "sum", lengths=torch.bincount(ids, minlength=count))


def segment_mean(x, ids, count):
    return torch.segment_reduce(x, "mean", lengths=torch.bincount(ids, minlength=count), initial=0)


def segment_max(x, ids, count):
    return torch.segment_reduce(x, "max", lengths=torch.bincount(ids, minlength=count))


def segment_prod(x, ids, count):
    return torch.segment_reduce(x, "prod", lengths=torch.bincount(ids, minlength=count))
