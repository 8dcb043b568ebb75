def sum(x, axes, keepdims):
    return x.sum(axes, keepdim=keepdims)


def mean(x, axes, keepdims):
    return x.mean(axes, keepdim=keepdims)


def prod(x, axis, keepdims):
    return x.prod(axis, keepdim=keepdims)


def max(x, axis, keepdims):
    return x.max(axis, keepdim=keepdims)


def min(x, axis, keepdims):
    return x.min(axis, keepdim=keepdims)


def amax(x, axes, keepdims):
    return x.max(axes, keepdim=keepdims)


def amin(x, axes, keepdims):
    return x.min(axes, keepdim=keepdims)


def var(x, axes, correction, keepdims):
    return x.var(axes, keepdims, correction)


def std(x, axes, correction, keepdims):
    return x.std(axes, keepdims, correction)


def normalize(x, axis):
    return x.normalize(dim=axis)


def logsumexp(x, axes, keepdims):
    return x.logsumexp(axes, keepdim=keepdims)


def softmax(x, axis):
    return x.softmax(axis)


def log_softmax(x, axis):
    return x.log_softmax(axis)


def any(x, axes, keepdims):
    return x.any(axes, keepdim=keepdims)


def all(x, axes, keepdims):
    return x.all(axes, keepdim=keepdims)


def argmax(x, axis, keepdims):
    return x.argmax(axis, keepdim=keepdims)


def argmin(x, axis, keepdims):
    return x.argmin(axis, keepdim=keepdims)
