def cumsum(x, axis):
    return x.cumsum(axis)


def cumprod(x, axis):
    return x.cumprod(axis)


def cummax(x, axis):
    return x.cummax(axis)[0]


def cummin(x, axis):
    return x.cummin(axis)[0]


def logcumsumexp(x, axis):
    return x.logcumsumexp(axis)


def sort(x, axis):
    return x.sort(axis)[0]


def argsort(x, axis):
    return x.argsort(axis)


def topk(x, k):
    return x.topk(k)[0]
