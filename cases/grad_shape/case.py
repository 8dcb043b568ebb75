"""Operations that put numbers in another order or shape, or copy them; each gradient is the sum of what flows into the copies."""

import numpy as np

from harness.sweep.op import Op, Sweep
from harness.sweep.products import lettered
from harness.sweep.shapes import (
    a_new_axis,
    alike,
    an_axis,
    broadcast,
    counts,
    expanded,
    factors,
    new_shape,
    options,
    order,
    parts,
    pieces,
    shaped,
    shift,
    shuffled,
    some_axes,
    two_axes,
    with_one,
)

TYPES = ("bfloat16", "float16", "float32", "float64")
FINITE = ("grid", "normal")
EXACT = ("grid",)  # of which a product with the upstream gradient fits in each type


def cat(a, b, c, axis):
    return np.concatenate([a, b, c], axis)


def stack(a, b, axis):
    return np.stack([a, b], axis)


def split(x, axis, sizes, part):
    return np.split(x, np.cumsum(sizes)[:-1], axis)[part]


def chunk(x, axis, count):
    """The last of at most ``count`` parts, each but that one of the same size."""
    size = -(-x.shape[axis] // count)
    return np.split(x, range(size, x.shape[axis], size), axis)[-1]


def unstack(x, axis):
    """The last part alone."""
    return np.take(x, -1, axis)


def tile(x, counts):
    return np.tile(x, counts)


def repeat_interleave(x, axis, count):
    return np.repeat(x, count, axis)


def repeat_each(x, axis):
    """The first number never, the next once, ..."""
    return np.repeat(x, np.arange(x.shape[axis]), axis)


def broadcast_to(x, shape):
    return np.broadcast_to(x, shape)


def flip(x, axes):
    return np.flip(x, axes)


def roll(x, axes, shifts):
    return np.roll(x, shifts, axes)


def roll_flat(x, shift):
    return np.roll(x, shift)


def rot90(x, turns):
    return np.rot90(x, turns)


def permute(x, order):
    return x.transpose(order)


def swapaxes(x, axis1, axis2):
    return x.swapaxes(axis1, axis2)


def moveaxis(x, axis1, axis2):
    return np.moveaxis(x, axis1, axis2)


def reshape(x, shape):
    return x.reshape(shape)


def flatten(x):
    return x.reshape(x.shape[0], -1)


def unflatten(x, sizes):
    return x.reshape(*x.shape[:-1], *sizes)


def squeeze(x, axis):
    return np.squeeze(x, axis)


def unsqueeze(x, axis):
    return np.expand_dims(x, axis)


def views(x, order):
    """A view of a view of a view, copied where a reshape needs it."""
    turned = x.transpose(order)[1:, ..., ::2]
    return np.flip(turned, -1).reshape(-1)[1:]


def meshgrid(a, b, indexing):
    return np.concatenate([part.ravel() for part in np.meshgrid(a, b, indexing=indexing)])


def block_diag(a, b):
    y = np.zeros(np.add(a.shape, b.shape))
    y[: a.shape[0], : a.shape[1]], y[a.shape[0] :, a.shape[1] :] = a, b
    return y


def clone(x):
    return x + x


def contiguous(x):
    return x


def cast(x, through):  # noqa: ARG001  each of these types holds the numbers that are asked
    return x


def cast_factor(x, through):  # noqa: ARG001  one of two ways to x leads through another type
    return x * x


def detach_sum(x):
    return x + x * x


def detach_sum_held(at):
    return lambda x: x + at["x"] ** 2


def detach_factor(a, b):
    return a * b * b


def detach_factor_held(at):
    return lambda a, b: a * b * at["b"]


def straight_through(x):
    return np.round(x)


def straight_through_held(at):
    return lambda x: np.round(at["x"]) + x - at["x"]


def pixel_shuffle(x, factor):
    n, c, h, w = x.shape
    blocks = x.reshape(n, c // factor**2, factor, factor, h, w)
    return blocks.transpose(0, 1, 4, 2, 5, 3).reshape(n, -1, h * factor, w * factor)


def pixel_unshuffle(x, factor):
    n, c, h, w = x.shape
    blocks = x.reshape(n, c, h // factor, factor, w // factor, factor)
    return blocks.transpose(0, 1, 3, 5, 2, 4).reshape(n, -1, h // factor, w // factor)


CASE = Sweep(
    claim="Each operation that moves or copies numbers has the value and the gradients of its definition, whatever the numbers are.",
    failure="wrong-gradient",
    items={
        "cat": Op(forward=cat, takes=pieces),
        "stack": Op(forward=stack, takes=alike("ab", a_new_axis)),
        "split": Op(forward=split, takes=shaped(parts)),
        "chunk": Op(forward=chunk, takes=shaped(an_axis, options(count=(2, 3, 4, 1)), size=6)),
        "unstack": Op(forward=unstack, takes=shaped(an_axis)),
        "tile": Op(forward=tile, takes=shaped(counts)),
        "repeat_interleave": Op(forward=repeat_interleave, takes=shaped(an_axis, options(count=(2, 3, 1)))),
        "repeat_each": Op(forward=repeat_each, takes=shaped(an_axis)),
        "broadcast_to": Op(forward=broadcast_to, takes=shaped(broadcast), terms=expanded),
        "flip": Op(forward=flip, takes=shaped(some_axes)),
        "roll": Op(forward=roll, takes=shaped(shift)),
        "roll_flat": Op(forward=roll_flat, takes=shaped(options(shift=(1, -1, 3, -5, 0, 99)))),
        "rot90": Op(forward=rot90, takes=shaped(options(turns=(1, 2, 3, 0, -1, 5)), low=2)),
        "permute": Op(forward=permute, takes=shaped(order, low=2, high=4)),
        "swapaxes": Op(forward=swapaxes, takes=shaped(two_axes, low=2)),
        "moveaxis": Op(forward=moveaxis, takes=shaped(two_axes, low=2, high=4)),
        "reshape": Op(forward=reshape, takes=shaped(new_shape)),
        "flatten": Op(forward=flatten, takes=shaped(low=2, high=4)),
        "unflatten": Op(forward=unflatten, takes=shaped(factors, size=6)),
        "squeeze": Op(forward=squeeze, takes=with_one),
        "unsqueeze": Op(forward=unsqueeze, takes=shaped(a_new_axis)),
        "views": Op(forward=views, takes=shaped(order, low=2)),
        "meshgrid": Op(forward=meshgrid, takes=lettered(a="i", b="j", attributes={"indexing": ("ij", "xy")})),
        "block_diag": Op(forward=block_diag, takes=lettered(a="ij", b="kl")),
        "clone": Op(forward=clone, takes=shaped()),
        "contiguous": Op(forward=contiguous, takes=shaped()),
        "cast": Op(forward=cast, takes=shaped(options(through=TYPES))),
        "cast_factor": Op(forward=cast_factor, takes=shaped(options(through=TYPES), styles=EXACT)),
        "detach_sum": Op(forward=detach_sum, takes=shaped(styles=FINITE), held=detach_sum_held),
        "detach_factor": Op(forward=detach_factor, takes=alike("ab", styles=FINITE), held=detach_factor_held),
        "straight_through": Op(forward=straight_through, takes=shaped(styles=FINITE), held=straight_through_held),
        "pixel_shuffle": Op(forward=pixel_shuffle, takes=shuffled(channels=True)),
        "pixel_unshuffle": Op(forward=pixel_unshuffle, takes=shuffled(channels=False)),
    },
)
