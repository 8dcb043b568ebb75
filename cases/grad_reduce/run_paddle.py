import paddle
import paddle.nn.functional as F


def sum(x, axes, keepdims):
    return paddle.sum(x, axes, keepdim=keepdims)


def mean(x, axes, keepdims):
    return paddle.mean(x, axes, keepdim=keepdims)


def nansum(x, axes, keepdims):
    return paddle.nansum(x, axes, keepdim=keepdims)


def prod(x, axis, keepdims):
    return paddle.prod(x, axis, keepdim=keepdims)


def max(x, axis, keepdims):
    return paddle.max(x, axis, keepdim=keepdims)


def min(x, axis, keepdims):
    return paddle.min(x, axis, keepdim=keepdims)


def amax(x, axes, keepdims):
    return paddle.amax(x, axes, keepdim=keepdims)


def amin(x, axes, keepdims):
    return paddle.amin(x, axes, keepdim=keepdims)


def var(x, axes, correction, keepdims):
    return paddle.var(x, axes, keepdim=keepdims, correction=correction)


def std(x, axes, correction, keepdims):
    return paddle.std(x, axes, unbiased=correction == 1, keepdim=keepdims)


def norm_l1(x, axes, keepdims):
    return paddle.linalg.vector_norm(x, 1, axes, keepdims)


def norm_l2(x, axes, keepdims):
    return paddle.linalg.vector_norm(x, 2, axes, keepdims)


def norm_l3(x, axes, keepdims):
    return paddle.linalg.vector_norm(x, 3, axes, keepdims)


def norm_linf(x, axes, keepdims):
    return paddle.linalg.vector_norm(x, float("inf"), axes, keepdims)


def normalize(x, axis):
    return F.normalize(x, axis=axis)


def cosine_similarity(a, b, axis):
    return F.cosine_similarity(a, b, axis)


def vecdot(a, b):
    return paddle.vecdot(a, b)


def logsumexp(x, axes, keepdims):
    return paddle.logsumexp(x, axes, keepdim=keepdims)


def softmax(x, axis):
    return F.softmax(x, axis)


def log_softmax(x, axis):
    return F.log_softmax(x, axis)


def any(x, axes, keepdims):
    return paddle.any(x, axes, keepdim=keepdims)


def all(x, axes, keepdims):
    return paddle.all(x, axes, keepdim=keepdims)


def count_nonzero(x, axes):
    return paddle.count_nonzero(x, axes)


def argmax(x, axis, keepdims):
    return paddle.argmax(x, axis, keepdim=keepdims)


def argmin(x, axis, keepdims):
    return paddle.argmin(x, axis, keepdim=keepdims)
