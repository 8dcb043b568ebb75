import torch
import torch.nn.functional as F


def index_select(x, ids, axis):
    return torch.index_select(x, axis, ids)


def index_select_outside(x, ids, axis):
    return torch.index_select(x, axis, ids)


def take_flat(x, ids):
    return torch.take(x, ids.long())


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
    return torch.masked_select(x, mask)


def select(x, axis, index):
    return x.select(axis, index)


def take_along_axis(x, ids, axis):
    return torch.take_along_dim(x, ids.long(), axis)


def take_along_axis_outside(x, ids, axis):
    return torch.take_along_dim(x, ids.long(), axis)


def gather(x, ids, axis):
    return torch.gather(x, axis, ids.long())


def embedding(table, ids):
    return F.embedding(ids, table)


def embedding_padding(table, ids, padding):
    return F.embedding(ids, table, padding_idx=padding)


def embedding_outside(table, ids):
    return F.embedding(ids, table)


def masked_fill(x, mask, value):
    return x.masked_fill(mask, value)


def where(a, b, mask):
    return torch.where(mask, a, b)


def one_hot(ids, count):
    return F.one_hot(ids.long(), count)


def one_hot_outside(ids, count):
    return F.one_hot(ids.long(), count)


def searchsorted(x, v, right):
    return torch.searchsorted(x, v, right=right)


def bincount(ids, count):
    return torch.bincount(ids, minlength=count)
