"""Operations that read at ids or under a mask; ids that are none are asked apart, in items that end in `_outside`."""

import numpy as np

from harness.sweep.indices import (
    along,
    masked,
    narrow,
    ordered,
    outside,
    padded,
    pairs,
    picked,
    sequence,
    whole,
)
from harness.sweep.op import Op, Sweep
from harness.sweep.products import longest
from harness.sweep.shapes import an_index, shaped

CANDLE_ONE_HOT = "https://docs.rs/candle-nn/latest/candle_nn/encoding/fn.one_hot.html"
JAX_AT = "https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html"
JAX_TAKE = "https://docs.jax.dev/en/latest/_autosummary/jax.numpy.take.html"
JAX_ALONG = "https://docs.jax.dev/en/latest/_autosummary/jax.numpy.take_along_axis.html"
JAX_ONE_HOT = "https://docs.jax.dev/en/latest/_autosummary/jax.nn.one_hot.html"
PADDLE_EMBEDDING = "https://www.paddlepaddle.org.cn/documentation/docs/en/api/paddle/nn/functional/embedding_en.html"
TF_ONE_HOT = "https://www.tensorflow.org/api_docs/python/tf/one_hot"
TINYGRAD_INDEX = "https://docs.tinygrad.org/tensor/movement/"
INTS = ("int64", "int32")
ADDED = 8  # a number is the sum of at most seven, each addition rounded in the type


def index_select(x, ids, axis):
    return np.take(x, ids, axis)


def take_or(fill, x, ids, axis):
    """Negative ids count from the end; what is outside even so is ``fill``."""
    size = x.shape[axis]
    at = np.where(ids < 0, ids.astype(np.int64) + size, ids)
    shape = [1] * x.ndim
    shape[axis] = ids.size
    return np.where(((at >= 0) & (at < size)).reshape(shape), np.take(x, at.clip(0, size - 1), axis), fill)


def take_or_nan(x, ids, axis):
    return take_or(np.nan, x, ids, axis)


def take_or_zero(x, ids, axis):
    return take_or(0.0, x, ids, axis)


def take_flat(x, ids):
    return x.ravel()[ids]


def getitem_rows(x, ids):
    return x[ids]


def rows_clamped(x, ids):
    at = np.where(ids < 0, ids.astype(np.int64) + len(x), ids)
    return x[at.clip(0, len(x) - 1)]


def rows_or_nan(table, ids):
    return take_or_nan(table, ids, 0)


def rows_or_zero(x, ids):
    return take_or_zero(x, ids, 0)


def getitem_pair(x, i, j):
    return x[i, j]


def getitem_apart(x, i, j):
    return x[i, :, j]


def masked_select(x, mask):
    return x[np.broadcast_to(mask, x.shape)]


def getitem_mask(x, mask):
    return x[mask]


def at(ids, axis):
    """The places of ``ids``, each on its own line along an axis."""
    places = list(np.indices(ids.shape))
    places[axis] = ids
    return tuple(places)


def gather(x, ids, axis):
    return x[at(ids, axis)]


def along_or_nan(x, ids, axis):
    size = x.shape[axis]
    wrapped = np.where(ids < 0, ids.astype(np.int64) + size, ids)
    return np.where((wrapped >= 0) & (wrapped < size), x[at(wrapped.clip(0, size - 1), axis)], np.nan)


def embedding(table, ids):
    return table[ids]


def embedding_padding(table, ids, padding):  # noqa: ARG001  it changes the gradient alone
    return table[ids]


def padding_held(tensors):
    """The row of the padding is a constant: what is looked up there gives it no gradient."""
    return lambda table, ids, padding: np.where((ids == padding % len(table))[..., None], tensors["table"][ids], table[ids])


def embedding_padding_zero(table, ids, padding):
    return np.where((ids == padding % len(table))[..., None], 0.0, table[ids])


def masked_fill(x, mask, value):
    return np.where(mask, value, x)


def where(a, b, mask):
    return np.where(mask, a, b)


def one_hot(ids, count):
    return (ids[..., None] == np.arange(count)) * 1.0


def searchsorted(x, v, right):
    return np.searchsorted(x, v, side="right" if right else "left")


def bincount(ids, count):
    return np.bincount(ids, minlength=count)


def select(x, axis, index):
    return np.take(x, index, axis)


def always(_):
    return True


def count(asked):
    return asked.attributes["count"]


FROM_ENDS = "negative ids count from the end; "
ROWS = picked(anywhere=False, negative=True, counts=((3,), (2, 3), (1,), (0,)))
TABLE = picked(name="table", ranks=(2, 2), anywhere=False, counts=((3,), (2, 3), (5,), (1,)), long=True)
IDS = ((3,), (2,), (5,), (1,))

CASE = Sweep(
    claim="Each operation that reads at ids has the value and the gradients of its definition; what is read twice gets both, what is no id is refused.",
    failure="wrong-gradient",
    items={
        "index_select": Op(forward=index_select, takes=picked(long=True), terms=longest, roundings=ADDED),
        "index_select_outside": Op(
            forward=index_select,
            takes=outside(picked(counts=IDS)),
            invalid=always,
            documented={
                "jax": (JAX_TAKE, FROM_ENDS + "what is outside is NaN", take_or_nan),
                "tinygrad": (TINYGRAD_INDEX, FROM_ENDS + "what is outside is 0", take_or_zero),
            },
        ),
        "take_flat": Op(forward=take_flat, takes=picked(ranks=(1, 1), anywhere=False, counts=((3,), (2, 3), (1,)))),
        "getitem_rows": Op(forward=getitem_rows, takes=ROWS, roundings=ADDED),
        "getitem_rows_outside": Op(
            forward=getitem_rows,
            takes=outside(picked(anywhere=False, counts=IDS), wraps=True),
            invalid=always,
            documented={
                "jax": (JAX_AT, FROM_ENDS + "what is outside is the nearest row", rows_clamped),
                "tinygrad": (TINYGRAD_INDEX, FROM_ENDS + "what is outside is 0", rows_or_zero),
            },
        ),
        "getitem_narrow": Op(forward=getitem_rows, takes=narrow, roundings=ADDED),
        "getitem_pair": Op(forward=getitem_pair, takes=pairs(), roundings=ADDED),
        "getitem_apart": Op(forward=getitem_apart, takes=pairs(apart=True), roundings=ADDED),
        "getitem_mask": Op(forward=getitem_mask, takes=masked(leading=True)),
        "masked_select": Op(forward=masked_select, takes=masked()),
        "select": Op(forward=select, takes=shaped(an_index)),
        "take_along_axis": Op(forward=gather, takes=along(long=True), terms=longest, roundings=ADDED),
        "take_along_axis_outside": Op(
            forward=gather,
            takes=outside(along()),
            invalid=always,
            documented={"jax": (JAX_ALONG, FROM_ENDS + "what is outside is NaN", along_or_nan)},
        ),
        "gather": Op(forward=gather, takes=along(smaller=True), roundings=ADDED),
        "embedding": Op(forward=embedding, takes=TABLE, terms=longest, roundings=ADDED),
        "embedding_padding": Op(
            forward=embedding_padding,
            takes=padded,
            roundings=ADDED,
            held=padding_held,
            documented={"paddle": (PADDLE_EMBEDDING, "what is looked up there is 0", embedding_padding_zero)},
        ),
        "embedding_outside": Op(
            forward=embedding,
            takes=outside(picked(name="table", ranks=(2, 2), anywhere=False, counts=IDS)),
            invalid=always,
            documented={"jax": (JAX_TAKE, FROM_ENDS + "what is outside is NaN", rows_or_nan)},
        ),
        "masked_fill": Op(forward=masked_fill, takes=masked(value=(0.0, -1.5))),
        "where": Op(forward=where, takes=masked("ab")),
        "one_hot": Op(forward=one_hot, takes=whole, dtypes=INTS, gradient=False),
        "one_hot_outside": Op(
            forward=one_hot,
            takes=outside(whole, count),
            dtypes=INTS,
            gradient=False,
            invalid=always,
            documented={
                "candle": (CANDLE_ONE_HOT, "zeros for -1", one_hot),
                "jax": (JAX_ONE_HOT, "zeros", one_hot),
                "tensorflow": (TF_ONE_HOT, "zeros", one_hot),
            },
        ),
        "searchsorted": Op(forward=searchsorted, takes=ordered, gradient=False),
        "bincount": Op(forward=bincount, takes=sequence, dtypes=INTS, gradient=False),
    },
)
