from tinygrad import nn


def index_select(x, ids, axis):
    return x[(slice(None),) * (axis % x.ndim) + (ids,)]


def index_select_outside(x, ids, axis):
    return x[(slice(None),) * (axis % x.ndim) + (ids,)]


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


def masked_select(x, mask):
    return x.masked_select(mask)


def select(x, axis, index):
    return x[(slice(None),) * (axis % x.ndim) + (index,)]


def take_along_axis(x, ids, axis):
    return x.gather(axis, ids)


def take_along_axis_outside(x, ids, axis):
    return x.gather(axis, ids)


def gather(x, ids, axis):
    return x.gather(axis, ids)


def embedding(table, ids):
    layer = nn.Embedding(*table.shape)
    layer.weight = table
    return layer(ids)


def embedding_outside(table, ids):
    layer = nn.Embedding(*table.shape)
    layer.weight = table
    return layer(ids)


def masked_fill(x, mask, value):
    return x.masked_fill(mask, value)


def where(a, b, mask):
    return mask.where(a, b)


def one_hot(ids, count):
    return ids.one_hot(count)


def one_hot_outside(ids, count):
    return ids.one_hot(count)
