"""What follows an order: cumulative sums, products and extremes along an axis, sorting, the largest numbers, the middle one."""

import numpy as np

from harness.sweep.kinds import reduced, reduction, top
from harness.sweep.op import Op, Sweep


def cumsum(x, axis):
    return np.cumsum(x, axis=axis)


def cumprod(x, axis):
    return np.cumprod(x, axis=axis)


def cummax(x, axis):
    return np.maximum.accumulate(x, axis=axis)


def cummin(x, axis):
    return np.minimum.accumulate(x, axis=axis)


def logcumsumexp(x, axis):
    return np.logaddexp.accumulate(x, axis=axis)


def sort(x, axis):
    return np.sort(x, axis=axis)


def argsort(x, axis):
    return np.argsort(x, axis=axis, kind="stable")


def topk(x, k):
    return np.flip(np.sort(x), -1)[..., :k]


def median(x, axis):
    """The mean of the two in the middle, where there are two."""
    count = x.shape[axis]
    return _middle(x, axis, (count - 1) // 2, count // 2)


def lower_median(x, axis):
    below = (x.shape[axis] - 1) // 2
    return _middle(x, axis, below, below)


def _middle(x, axis, below, above):
    in_order = np.sort(x, axis=axis)
    middle = (np.take(in_order, below, axis=axis) + np.take(in_order, above, axis=axis)) / 2
    return np.where(np.isnan(x).any(axis=axis), np.nan, middle)


def quantile(x, axis, q):
    in_order, place = np.sort(x, axis=axis), q * (x.shape[axis] - 1)
    below = np.take(in_order, int(np.floor(place)), axis=axis)
    above = np.take(in_order, int(np.ceil(place)), axis=axis)
    return np.where(np.isnan(x).any(axis=axis), np.nan, below + (place - np.floor(place)) * (above - below))


def _of_logcumsumexp(asked, dy):
    """The logarithm of a sum between 1 and its length; its backward is exp(x + log(sum(exp(log(dy) - y)))) of the positive dy, less that of the negative."""
    x, axis = asked.tensors["x"], asked.attributes["axis"]
    y = logcumsumexp(x, axis)
    each = np.flip(np.cumsum(np.flip(dy * np.exp(-y), axis), axis=axis), axis) * np.exp(x)
    return {"y": np.ones(dy.shape), "x": np.nan_to_num(each * (1 + np.abs(x) + np.abs(y)), posinf=0, neginf=0)}


def _of_quantile(asked, dy):
    """Of below + share (above - below), where the share is what is left of q (count - 1)."""
    x, axis = asked.tensors["x"], asked.attributes["axis"]
    count = x.shape[axis]
    return {"y": count * np.max(np.abs(x), axis=axis), "x": count * np.expand_dims(dy, axis)}


CASE = Sweep(
    claim="Each cumulative operation and each that sorts has the value and the gradient of its definition along any axis, at ties a subgradient.",
    failure="wrong-gradient",
    items={
        "cumsum": Op(forward=cumsum, takes=reduction(long=True, empty=True), terms=reduced),
        "cumprod": Op(forward=cumprod, takes=reduction("finite spread", ("whole",), empty=True), terms=reduced),
        "cummax": Op(forward=cummax, takes=reduction(extra=("masked", "distinct"))),
        "cummin": Op(forward=cummin, takes=reduction(extra=("distinct",))),
        "logcumsumexp": Op(forward=logcumsumexp, takes=reduction(extra=("masked",), long=True), terms=reduced, cancels=_of_logcumsumexp),
        "sort": Op(forward=sort, takes=reduction(extra=("masked", "distinct"), empty=True)),
        "argsort": Op(forward=argsort, takes=reduction(extra=("masked", "distinct"), empty=True), gradient=False),
        "topk": Op(forward=topk, takes=top()),
        "median": Op(
            forward=median,
            takes=reduction(extra=("distinct",)),
            documented={
                "torch": (
                    "https://docs.pytorch.org/docs/stable/generated/torch.median.html",
                    "returns the lower of the two in the middle",
                    lower_median,
                ),
                "burn": (
                    "https://docs.rs/burn/0.21.0/burn/tensor/struct.Tensor.html#method.median",
                    "its example returns the lower of the two in the middle",
                    lower_median,
                ),
            },
        ),
        "quantile": Op(
            forward=quantile,
            takes=reduction("finite spread", ("distinct",), q=(0.5, 0.25, 0.0, 1.0, 0.9)),
            dtypes=("float64", "float32"),
            cancels=_of_quantile,
        ),
    },
)
