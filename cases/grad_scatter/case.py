"""Operations that write, add or multiply at ids or under a mask; ids that are none are asked apart, in items that end in `_outside`."""

import numpy as np

from harness.sweep.indices import (
    MOVED,
    SUMMED,
    along,
    masked,
    outside,
    pairs,
    picked,
    rows,
    segments,
)
from harness.sweep.kinds import LONG
from harness.sweep.op import Asked, Op, Sweep
from harness.sweep.products import longest

JAX_AT = "https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html"
JAX_SEGMENT = "https://docs.jax.dev/en/latest/_autosummary/jax.ops.segment_sum.html"
TF_SEGMENT = "https://www.tensorflow.org/api_docs/python/tf/math/unsorted_segment_sum"
ADDED = 8  # a number is the sum of at most seven, each addition rounded in the type


def at(ids, axis):
    """The places of ``ids``, each on its own line along an axis."""
    places = list(np.indices(ids.shape))
    places[axis] = ids
    return tuple(places)


def written(x, places, v):
    y = x.copy()
    y[places] = v
    return y


def combined(how, x, places, v):
    y = x.copy()
    how.at(y, places, v)
    return y


def scatter(x, ids, v, axis):
    return written(x, at(ids, axis), v)


def scatter_add(x, ids, v, axis):
    return combined(np.add, x, at(ids, axis), v)


def replaced(how, start, x, ids, v, axis, include_self):
    """A reduction that starts with what is there, or with nothing where something is written."""
    places = at(ids, axis)
    return combined(how, x if include_self else written(x, places, start), places, v)


def scatter_prod(x, ids, v, axis, include_self):
    return replaced(np.multiply, 1.0, x, ids, v, axis, include_self)


def scatter_max(x, ids, v, axis, include_self):
    return replaced(np.maximum, -np.inf, x, ids, v, axis, include_self)


def scatter_min(x, ids, v, axis, include_self):
    return replaced(np.minimum, np.inf, x, ids, v, axis, include_self)


def scatter_mean(x, ids, v, axis, include_self):
    count = replaced(np.add, 0.0, np.ones(x.shape), ids, np.ones(v.shape), axis, include_self)
    return replaced(np.add, 0.0, x, ids, v, axis, include_self) / count


def rows_set(x, ids, v):
    return written(x, ids, v)


def rows_add(x, ids, v):
    return combined(np.add, x, ids, v)


def rows_add_inside(x, ids, v):
    wrapped = np.where(ids < 0, ids.astype(np.int64) + len(x), ids)
    kept = (wrapped >= 0) & (wrapped < len(x))
    return combined(np.add, x, wrapped[kept], v[kept])


def rows_multiply(x, ids, v):
    return combined(np.multiply, x, ids, v)


def rows_max(x, ids, v):
    return combined(np.maximum, x, ids, v)


def index_add(x, ids, v, axis):
    return np.moveaxis(rows_add(np.moveaxis(x, axis, 0), ids, np.moveaxis(v, axis, 0)), 0, axis)


def index_fill(x, ids, axis):
    return np.moveaxis(written(np.moveaxis(x, axis, 0), ids, 1.5), 0, axis)


def index_put(x, i, j, v):
    return written(x, (i, j), v)


def index_put_accumulate(x, i, j, v):
    return combined(np.add, x, (i, j), v)


def masked_scatter(x, v, mask):
    return written(x, mask, v.ravel()[: np.count_nonzero(mask)])


def setitem_mask(x, mask):
    return written(x, mask, 0.5)


def segment(how, start, x, ids, count):
    return combined(how, np.full((count, *x.shape[1:]), start), ids, x)


def segment_sum(x, ids, count):
    return segment(np.add, 0.0, x, ids, count)


def segment_sum_inside(x, ids, count):
    kept = (ids >= 0) & (ids < count)
    return segment_sum(x[kept], ids[kept], count)


def segment_mean(x, ids, count):
    shape = (count, *[1] * (x.ndim - 1))
    return segment_sum(x, ids, count) / np.maximum(np.bincount(ids, minlength=count), 1).reshape(shape)


def segment_max(x, ids, count):
    return segment(np.maximum, -np.inf, x, ids, count)


def segment_prod(x, ids, count):
    return segment(np.multiply, 1.0, x, ids, count)


def always(_):
    return True


def count(asked):
    return asked.attributes["count"]


FROM_ENDS = "negative ids count from the end; "
IDS = ((3,), (2,), (5,), (1,))


def counted(takes):
    """A long sum of ones in one column and of random numbers in the next; or of both in a vector, for which a framework may have another path."""

    def drawn(d):
        asked = takes(d)
        x, at, v = (asked.tensors[name] for name in ("x", "ids", "v"))
        if v.shape[0] == LONG:
            v = v.copy()
            v[:, ::2] = 1
            if d.least < 2 and d.choose(False, True):
                x, at, v = x[:, 0], at if at.ndim == 1 else at[:, 0], np.where(np.arange(LONG) % 4 > 0, 1.0, v[:, 1])
        return Asked(tensors={"x": x, "ids": at, "v": v}, attributes=asked.attributes)

    return drawn


CASE = Sweep(
    claim="Each operation that writes at ids has the value and the gradients of its definition, repeated ids add up, and what is no id is refused.",
    failure="wrong-gradient",
    items={
        "scatter": Op(forward=scatter, takes=along(smaller=True, unique=True, source=MOVED)),
        "put_along_axis": Op(forward=scatter, takes=along(unique=True, source=MOVED)),
        "scatter_add": Op(
            forward=scatter_add, takes=counted(along(smaller=True, source=SUMMED, long=True)), terms=longest, roundings=ADDED
        ),
        "scatter_add_outside": Op(forward=scatter_add, takes=outside(along(source=SUMMED)), invalid=always),
        "scatter_prod": Op(
            forward=scatter_prod, takes=along(source=("grid", "normal", "zero"), include_self=(True, False)), roundings=2 * ADDED
        ),
        "scatter_mean": Op(forward=scatter_mean, takes=along(source=SUMMED, include_self=(True, False)), roundings=ADDED),
        "scatter_max": Op(forward=scatter_max, takes=along(source=("grid", "normal", "ties"), include_self=(True, False))),
        "scatter_min": Op(forward=scatter_min, takes=along(source=("grid", "normal", "ties"), include_self=(True, False))),
        "rows_set": Op(forward=rows_set, takes=rows(unique=True, styles=MOVED)),
        "rows_add": Op(forward=rows_add, takes=counted(rows(long=True)), terms=longest, roundings=ADDED),
        "rows_add_outside": Op(
            forward=rows_add,
            takes=outside(rows(counts=(3, 2, 5, 1)), wraps=True),
            invalid=always,
            documented={"jax": (JAX_AT, FROM_ENDS + "what is outside is dropped", rows_add_inside)},
        ),
        "rows_multiply": Op(forward=rows_multiply, takes=rows(styles=("grid", "normal", "zero")), roundings=2 * ADDED),
        "rows_max": Op(forward=rows_max, takes=rows(styles=("grid", "normal", "ties"))),
        "index_add": Op(forward=index_add, takes=counted(rows(anywhere=True, long=True)), terms=longest, roundings=ADDED),
        "index_fill": Op(forward=index_fill, takes=picked(counts=IDS)),
        "index_put": Op(forward=index_put, takes=pairs(source=MOVED, unique=True)),
        "index_put_accumulate": Op(forward=index_put_accumulate, takes=pairs(source=SUMMED), roundings=ADDED),
        "masked_scatter": Op(forward=masked_scatter, takes=masked("xv", broadcast=False)),
        "setitem_mask": Op(forward=setitem_mask, takes=masked(broadcast=False)),
        "segment_sum": Op(forward=segment_sum, takes=segments(*SUMMED, long=True), terms=longest, roundings=ADDED),
        "segment_sum_outside": Op(
            forward=segment_sum,
            takes=outside(segments("grid"), count),
            invalid=always,
            documented={
                "jax": (JAX_SEGMENT, "what is outside is dropped", segment_sum_inside),
                "tensorflow": (TF_SEGMENT, "what is below 0 is dropped", segment_sum_inside),
            },
        ),
        "segment_mean": Op(forward=segment_mean, takes=segments(*SUMMED, long=True), terms=longest, roundings=ADDED),
        "segment_max": Op(forward=segment_max, takes=segments("grid", "normal", "ties", filled=True)),
        "segment_prod": Op(forward=segment_prod, takes=segments("grid", "normal", "zero"), roundings=2 * ADDED),
    },
)
