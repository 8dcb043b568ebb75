import torch


def sum(x, axes, keepdims):
    return torch.sum(x, axes, keepdims)


def mean(x, axes, keepdims):
    return torch.mean(x, axes, keepdims)


def nansum(x, axes, keepdims):
    return torch.nansum(x, axes, keepdims)


def prod(x, axis, keepdims):
    return torch.prod(x, axis, keepdims)


def max(x, axis, keepdims):
    return torch.max(x, axis, keepdims).values


def min(x, axis, keepdims):
    return torch.min(x, axis, keepdims).values


def amax(x, axes, keepdims):
    return torch.amax(x, () if axes is None else axes, keepdims)


def amin(x, axes, keepdims):
    return torch.amin(x, () if axes is None else axes, keepdims)


def var(x, axes, correction, keepdims):
    return torch.var(x, axes, correction=correction, keepdim=keepdims)


def std(x, axes, correction, keepdims):
    return torch.std(x, axes, correction=correction, keepdim=keepdims)


def norm_l1(x, axes, keepdims):
    return torch.linalg.vector_norm(x, 1, axes, keepdims)


def norm_l2(x, axes, keepdims):
    return torch.linalg.vector_norm(x, 2, axes, keepdims)


def norm_l3(x, axes, keepdims):
    return torch.linalg.vector_norm(x, 3, axes, keepdims)


def norm_linf(x, axes, keepdims):
    return torch.linalg.vector_norm(x, float("inf"), axes, keepdims)


def normalize(x, axis):
    return torch.nn.functional.normalize(x, dim=axis)


def cosine_similarity(a, b, axis):
    return torch.nn.functional.cosine_similarity(a, b, axis)


def vecdot(a, b):
    return torch.linalg.vecdot(a, b)


def logsumexp(x, axes, keepdims):
    return torch.logsumexp(x, list(range(x.ndim)) if axes is None else axes, keepdims)


def softmax(x, axis):
    return torch.softmax(x, axis)


def log_softmax(x, axis):
    return torch.log_softmax(x, axis)


def any(x, axes, keepdims):
    return torch.any(x, axes, keepdims)


def all(x, axes, keepdims):
    return torch.all(x, axes, keepdims)


def count_nonzero(x, axes):
    return torch.count_nonzero(x, axes)


def argmax(x, axis, keepdims):
    return torch.argmax(x, axis, keepdims)


def argmin(x, axis, keepdims):
    return torch.argmin(x, axis, keepdims)
