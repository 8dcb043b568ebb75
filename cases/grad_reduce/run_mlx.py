import mlx.core as mx
from mlx import nn


def sum(x, axes, keepdims):
    return mx.sum(x, axes, keepdims)


def mean(x, axes, keepdims):
    return mx.mean(x, axes, keepdims)


def prod(x, axis, keepdims):
    return mx.prod(x, axis, keepdims)


def max(x, axis, keepdims):
    return mx.max(x, axis, keepdims)


def min(x, axis, keepdims):
    return mx.min(x, axis, keepdims)


def amax(x, axes, keepdims):
    return mx.max(x, axes, keepdims)


def amin(x, axes, keepdims):
    return mx.min(x, axes, keepdims)


def var(x, axes, correction, keepdims):
    return mx.var(x, axes, keepdims, correction)


def std(x, axes, correction, keepdims):
    return mx.std(x, axes, keepdims, correction)


def norm_l2(x, axes, keepdims):
    return mx.linalg.norm(x, axis=axes, keepdims=keepdims)


def cosine_similarity(a, b, axis):
    return nn.losses.cosine_similarity_loss(a, b, axis)


def vecdot(a, b):
    return mx.vecdot(a, b)


def logsumexp(x, axes, keepdims):
    return mx.logsumexp(x, axes, keepdims)


def softmax(x, axis):
    return mx.softmax(x, axis)


def log_softmax(x, axis):
    return nn.log_softmax(x, axis)


def any(x, axes, keepdims):
    return mx.any(x, axes, keepdims)


def all(x, axes, keepdims):
    return mx.all(x, axes, keepdims)


def count_nonzero(x, axes):
    return mx.count_nonzero(x, axis=axes)


def argmax(x, axis, keepdims):
    return mx.argmax(x, axis, keepdims)


def argmin(x, axis, keepdims):
    return mx.argmin(x, axis, keepdims)
