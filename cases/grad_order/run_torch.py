import torch


def cumsum(x, axis):
    return torch.cumsum(x, axis)


def cumprod(x, axis):
    return torch.cumprod(x, axis)


def cummax(x, axis):
    return torch.cummax(x, axis).values


def cummin(x, axis):
    return torch.cummin(x, axis).values


def logcumsumexp(x, axis):
    return torch.logcumsumexp(x, axis)


def sort(x, axis):
    return torch.sort(x, axis).values


def argsort(x, axis):
    return torch.argsort(x, dim=axis, stable=True)


def topk(x, k):
    return torch.topk(x, k).values


def median(x, axis):
    return torch.median(x, axis).values


def quantile(x, axis, q):
    return torch.quantile(x, q, axis)
