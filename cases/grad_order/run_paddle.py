import paddle


def cumsum(x, axis):
    return paddle.cumsum(x, axis)


def cumprod(x, axis):
    return paddle.cumprod(x, axis)


def cummax(x, axis):
    return paddle.cummax(x, axis)[0]


def cummin(x, axis):
    return paddle.cummin(x, axis)[0]


def logcumsumexp(x, axis):
    return paddle.logcumsumexp(x, axis)


def sort(x, axis):
    return paddle.sort(x, axis)


def argsort(x, axis):
    return paddle.argsort(x, axis, stable=True)


def topk(x, k):
    return paddle.topk(x, k)[0]


def median(x, axis):
    return paddle.median(x, axis)


def quantile(x, axis, q):
    return paddle.quantile(x, q, axis)
