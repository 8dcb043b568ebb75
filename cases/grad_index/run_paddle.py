import paddle
import paddle.nn.functional as F


def index_select(x, ids, axis):
    return paddle.index_select(x, ids, axis)


def index_select_outside(x, ids, axis):
    return paddle.index_select(x, ids, axis)


def take_flat(x, ids):
    return paddle.take(x, ids)


def getitem_rows(x, ids):
    return x[ids]


def getitem_rows_outside(x, ids):
    return x[ids]


def getitem_pair(x, i, j):
    return x[i, j]


def getitem_apart(x, i, j):
    return x[i, :, j]


def getitem_mask(x, mask):
    return x[mask]


def masked_select(x, mask):
    return paddle.masked_select(x, mask)


def select(x, axis, index):
    return x[(slice(None),) * (axis % x.ndim) + (index,)]


def take_along_axis(x, ids, axis):
    return paddle.take_along_axis(x, ids, axis)


def take_along_axis_outside(x, ids, axis):
    return paddle.take_along_axis(x, ids, axis)


def gather(x, ids, axis):
    return paddle.take_along_axis(x, ids, axis, broadcast=False)


def embedding(table, ids):
    return F.embedding(ids, table)


def embedding_padding(table, ids, padding):
    return F.embedding(ids, table, padding_idx=padding)


def embedding_outside(table, ids):
    return F.embedding(ids, table)


def masked_fill(x, mask, value):
    return paddle.masked_fill(x, mask, value)


def where(a, b, mask):
    return paddle.where(mask, a, b)


def one_hot(ids, count):
    return F.one_hot(ids, count)


def one_hot_outside(ids, count):
    return F.one_hot(ids, count)


def searchsorted(x, v, right):
    return paddle.searchsorted(x, v, right=right)


def bincount(ids, count):
    return paddle.bincount(ids, minlength=count)
