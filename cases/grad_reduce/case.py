"""Reductions over an axis, some axes or all, and what is normalised by one."""

import numpy as np

from harness.sweep.kinds import masks, reduced, reduction
from harness.sweep.op import Asked, Op, Sweep


def total(x, axes, keepdims):
    return np.sum(x, axis=_tuple(axes), keepdims=keepdims)


def mean(x, axes, keepdims):
    return np.sum(x, axis=_tuple(axes), keepdims=keepdims) / _count(x, axes)


def prod(x, axis, keepdims):
    return np.prod(x, axis=axis, keepdims=keepdims)


def largest(x, axis, keepdims):
    return np.max(x, axis=axis, keepdims=keepdims)


def smallest(x, axis, keepdims):
    return np.min(x, axis=axis, keepdims=keepdims)


def amax(x, axes, keepdims):
    return np.max(x, axis=_tuple(axes), keepdims=keepdims)


def amin(x, axes, keepdims):
    return np.min(x, axis=_tuple(axes), keepdims=keepdims)


def var(x, axes, correction, keepdims):
    away = x - np.sum(x, axis=_tuple(axes), keepdims=True) / _count(x, axes)
    return np.sum(away * away, axis=_tuple(axes), keepdims=keepdims) / (_count(x, axes) - correction)


def std(x, axes, correction, keepdims):
    return np.sqrt(var(x, axes, correction, keepdims))


def norm_l1(x, axes, keepdims):
    return np.sum(np.abs(x), axis=_tuple(axes), keepdims=keepdims)


def norm_l2(x, axes, keepdims):
    return np.sqrt(np.sum(x * x, axis=_tuple(axes), keepdims=keepdims))


def norm_linf(x, axes, keepdims):
    return np.max(np.abs(x), axis=_tuple(axes), keepdims=keepdims)


def norm_l3(x, axes, keepdims):
    return np.sum(np.abs(x) ** 3, axis=_tuple(axes), keepdims=keepdims) ** (1 / 3)


def normalize(x, axis):
    return x / np.maximum(np.sqrt(np.sum(x * x, axis=axis, keepdims=True)), 1e-12)


def cosine_similarity(a, b, axis):
    return np.sum(normalize(a, axis) * normalize(b, axis), axis=axis)


def vecdot(a, b):
    return np.sum(a * b, axis=-1)


def logsumexp(x, axes, keepdims):
    largest = np.max(x, axis=_tuple(axes), keepdims=True, initial=-np.inf)
    shift = np.where(np.isfinite(largest), largest, 0)
    y = np.log(np.sum(np.exp(x - shift), axis=_tuple(axes), keepdims=True)) + shift
    return y if keepdims else np.squeeze(y, axis=_tuple(axes))


def softmax(x, axis):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True, initial=-np.inf))
    return e / np.sum(e, axis=axis, keepdims=True)


def log_softmax(x, axis):
    shifted = x - np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


def nansum(x, axes, keepdims):
    return np.nansum(x, axis=_tuple(axes), keepdims=keepdims)


def every(x, axes, keepdims):
    return np.all(x, axis=_tuple(axes), keepdims=keepdims)


def some(x, axes, keepdims):
    return np.any(x, axis=_tuple(axes), keepdims=keepdims)


def count_nonzero(x, axes):
    return np.count_nonzero(x, axis=_tuple(axes))


def argmax(x, axis, keepdims):
    return np.argmax(x, axis=axis, keepdims=keepdims)


def argmin(x, axis, keepdims):
    return np.argmin(x, axis=axis, keepdims=keepdims)


def _tuple(axes):
    return axes if axes is None else tuple(axes)


def _count(x, axes):
    return np.prod([x.shape[axis] for axis in (range(x.ndim) if axes is None else axes)])


def _of_softmax(asked, dy):
    """Of y (dy - sum(dy y))."""
    axis = asked.attributes["axis"]
    y = softmax(asked.tensors["x"], axis)
    return {"x": y * (dy + np.sum(dy * y, axis=axis, keepdims=True))}


def _of_log_softmax(asked, dy):
    """The logarithm of a sum between 1 and its length; and of dy - softmax(x) sum(dy)."""
    axis = asked.attributes["axis"]
    return {"y": np.ones(dy.shape), "x": dy + softmax(asked.tensors["x"], axis) * np.sum(dy, axis=axis, keepdims=True)}


def _of_logsumexp(_, dy):
    """The logarithm of a sum between 1 and its length."""
    return {"y": np.ones(dy.shape)}


def _of_normalize(asked, dy):
    """Of (dy - y sum(dy y)) / |x|."""
    x, axis = asked.tensors["x"], asked.attributes["axis"]
    y, size = np.abs(normalize(x, axis)), np.sqrt(np.sum(x * x, axis=axis, keepdims=True))
    return {"x": (dy + y * np.sum(dy * y, axis=axis, keepdims=True)) / np.where(size == 0, 1, size)}


def _of_cosine(asked, dy):
    """Of dy (v - cos u) / |a|, u and v of length 1."""
    axis = asked.attributes["axis"]
    sizes = {name: np.sqrt(np.sum(t * t, axis=axis, keepdims=True)) for name, t in asked.tensors.items()}
    both = sum(np.abs(normalize(t, axis)) for t in asked.tensors.values())
    return {name: np.expand_dims(dy, axis) * both / np.where(size == 0, 1, size) for name, size in sizes.items()}


KEEP = (False, True)


def zeros(takes):
    """One example in three is of zeros alone: there a norm, and a deviation, have a kink."""

    def drawn(d):
        asked = takes(d)
        if d.choose(False, False, True):
            return Asked(tensors={name: np.zeros_like(value) for name, value in asked.tensors.items()}, attributes=asked.attributes)
        return asked

    return drawn


EQUAL = ("rows", "rows", "rows")  # three in four of zeros, of equal numbers or of ties

CASE = Sweep(
    claim="Each reduction has the value and the gradient of its definition over any axes, at ties a subgradient, in any type's long sums.",
    failure="wrong-gradient",
    items={
        "sum": Op(forward=total, takes=reduction(over="axes", long=True, empty=True, keepdims=KEEP), terms=reduced),
        "mean": Op(forward=mean, takes=reduction(over="axes", long=True, empty=True, keepdims=KEEP), terms=reduced),
        "nansum": Op(forward=nansum, takes=reduction(over="axes", long=True, empty=True, keepdims=KEEP), terms=reduced),
        "prod": Op(forward=prod, takes=reduction("finite spread", ("whole",), empty=True, keepdims=KEEP), terms=reduced),
        "max": Op(forward=largest, takes=reduction(extra=("masked", "distinct"), keepdims=KEEP)),
        "min": Op(forward=smallest, takes=reduction(extra=("distinct",), keepdims=KEEP)),
        "amax": Op(forward=amax, takes=reduction(extra=("masked", "distinct"), over="axes", keepdims=KEEP)),
        "amin": Op(forward=amin, takes=reduction(extra=("distinct",), over="axes", keepdims=KEEP)),
        "var": Op(forward=var, takes=reduction("finite spread", over="axes", long=True, correction=(1, 0), keepdims=KEEP), terms=reduced),
        "std": Op(
            forward=std,
            takes=zeros(reduction("finite spread", over="axes", extra=EQUAL, long=True, correction=(1, 0), keepdims=KEEP)),
            roundings=6,
            terms=reduced,
        ),
        "norm_l1": Op(forward=norm_l1, takes=zeros(reduction(over="axes", long=True, keepdims=KEEP)), terms=reduced),
        "norm_l2": Op(
            forward=norm_l2,
            takes=zeros(reduction("finite spread", over="axes", long=True, keepdims=KEEP)),
            roundings=6,
            terms=reduced,
        ),
        "norm_l3": Op(
            forward=norm_l3,
            takes=zeros(reduction("finite spread", over="axes", long=True, keepdims=KEEP)),
            roundings=8,
            terms=reduced,
        ),
        "norm_linf": Op(forward=norm_linf, takes=zeros(reduction(over="axes", keepdims=KEEP))),
        "normalize": Op(
            forward=normalize, takes=zeros(reduction("finite spread", long=True)), roundings=6, terms=reduced, cancels=_of_normalize
        ),
        "cosine_similarity": Op(
            forward=cosine_similarity,
            takes=reduction("finite spread", names="ab", long=True),
            roundings=8,
            terms=reduced,
            cancels=_of_cosine,
        ),
        "vecdot": Op(forward=vecdot, takes=reduction(names="ab", over="last", long=True, empty=True), terms=reduced),
        "logsumexp": Op(
            forward=logsumexp,
            takes=reduction(extra=("masked",), over="axes", long=True, empty=True, keepdims=KEEP),
            terms=reduced,
            cancels=_of_logsumexp,
        ),
        "softmax": Op(forward=softmax, takes=reduction(extra=("masked",), long=True, empty=True), terms=reduced, cancels=_of_softmax),
        "log_softmax": Op(
            forward=log_softmax, takes=reduction(extra=("masked",), long=True, empty=True), terms=reduced, cancels=_of_log_softmax
        ),
        "any": Op(forward=some, takes=masks(keepdims=KEEP), dtypes=("int64",), gradient=False),
        "all": Op(forward=every, takes=masks(keepdims=KEEP), dtypes=("int64",), gradient=False),
        "count_nonzero": Op(forward=count_nonzero, takes=reduction(extra=("whole",), over="axes", empty=True), gradient=False),
        "argmax": Op(forward=argmax, takes=reduction(extra=("masked", "distinct"), keepdims=KEEP), gradient=False),
        "argmin": Op(forward=argmin, takes=reduction(extra=("distinct",), keepdims=KEEP), gradient=False),
    },
)
