"""Operations that take a part of a tensor, put one into it or put numbers around it."""

import numpy as np

from harness.sweep.op import Op, Sweep
from harness.sweep.shapes import (
    an_axis,
    assigned,
    backward_slices,
    crops,
    cut,
    cut_outside,
    diagonal,
    images,
    options,
    overlapping,
    pads,
    shaped,
    slices,
    strip,
    vector,
    window,
    with_diagonal,
    written,
)

JAX_SLICE = "https://docs.jax.dev/en/latest/_autosummary/jax.lax.dynamic_slice.html"
JAX_UPDATE = "https://docs.jax.dev/en/latest/_autosummary/jax.lax.dynamic_update_slice.html"
PADDLE_SLICE = "https://www.paddlepaddle.org.cn/documentation/docs/en/api/paddle/slice_en.html"
SQUARE = options(k=(0, 1, -1, 2, -3))


def padded(x, pads, mode):
    return np.pad(x, [(0, 0)] * (x.ndim - len(pads)) + pads, mode)


def pad_constant(x, pads, value):
    return np.pad(x, pads, constant_values=value)


def pad_crop(x, pads):
    """A negative one leaves numbers out."""
    kept = x[tuple(slice(max(-before, 0), size - max(-after, 0)) for (before, after), size in zip(pads, x.shape, strict=True))]
    return np.pad(kept, np.maximum(pads, 0))


def pad_reflect(x, pads):
    return padded(x, pads, "reflect")


def pad_replicate(x, pads):
    return padded(x, pads, "edge")


def pad_circular(x, pads):
    return padded(x, pads, "wrap")


def pad_symmetric(x, pads):
    return padded(x, pads, "symmetric")


def narrow(x, axis, start, length):
    return np.take(x, np.arange(start, start + length), axis)


def narrow_clamped(x, axis, start, length):
    return narrow(x, axis, min(start, x.shape[axis] - length), length)


def narrow_short(x, axis, start, length):
    return narrow(x, axis, start, max(0, min(length, x.shape[axis] - start)))


def slice_update(x, v, axis, start):
    y = x.copy()
    np.moveaxis(y, axis, 0)[start : start + v.shape[axis]] = np.moveaxis(v, axis, 0)
    return y


def slice_update_clamped(x, v, axis, start):
    return slice_update(x, v, axis, min(start, x.shape[axis] - v.shape[axis]))


def always(_):
    return True


def cuts(slices):
    return tuple(slice(*of) for of in slices)


def sliced(x, slices):
    return x[cuts(slices)]


def slice_new_axis(x, slices):
    return x[..., None, slice(*slices[-1])]


def unfold(x, axis, size, step):
    return np.lib.stride_tricks.sliding_window_view(x, size, axis)[(slice(None),) * (axis % x.ndim) + (slice(None, None, step),)]


def as_strided(x, size, step):
    """Rows of ``size`` numbers, each ``step`` after the one before."""
    return x[np.arange(0, x.size - size + 1, step)[:, None] + np.arange(size)]


def slice_assign(x, v, slices):
    y = x.copy()
    y[cuts(slices)] = v
    return y


def slice_add_assign(x, v, slices):
    y = x.copy()
    y[cuts(slices)] += v
    return y


def assign_overlap(x, axis, by, forward):
    y = x.copy().swapaxes(axis, 0)
    here, there = (slice(by, None), slice(None, -by)) if forward else (slice(None, -by), slice(by, None))
    y[here] = y[there].copy()
    return y.swapaxes(axis, 0)


def tril(x, k):
    return np.tril(x, k)


def triu(x, k):
    return np.triu(x, k)


def diagonal_of(x, axis1, axis2, offset):
    return np.diagonal(x, offset, axis1, axis2)


def diag(x, k):
    return np.diag(x, k)


def diag_embed(x, k):
    size = x.shape[-1] + abs(k)
    y, at = np.zeros((*x.shape[:-1], size, size)), np.arange(x.shape[-1])
    y[..., at + max(-k, 0), at + max(k, 0)] = x
    return y


def set_diag(x, v):
    y = x.copy()
    at = np.arange(v.shape[-1])
    y[..., at, at] = v
    return y


def trace(x):
    return np.trace(x)


def diff(x, axis, count):
    return np.diff(x, count, axis)


CASE = Sweep(
    claim="Each operation on a part of a tensor has the value and the gradients of its definition; what is outside of the part is as it was.",
    failure="wrong-gradient",
    items={
        "pad_constant": Op(forward=pad_constant, takes=shaped(pads, options(value=(0.0, 1.5)))),
        "pad_crop": Op(forward=pad_crop, takes=shaped(crops)),
        "pad_reflect": Op(forward=pad_reflect, takes=images(lambda size: size - 1)),
        "pad_replicate": Op(forward=pad_replicate, takes=images(lambda _: 3)),
        "pad_circular": Op(forward=pad_circular, takes=images(lambda size: size)),
        "pad_symmetric": Op(forward=pad_symmetric, takes=images(lambda size: size)),
        "narrow": Op(forward=narrow, takes=shaped(cut)),
        "narrow_outside": Op(
            forward=narrow,
            takes=shaped(cut_outside),
            invalid=always,
            documented={
                "jax": (JAX_SLICE, "it begins where it fits", narrow_clamped),
                "paddle": (PADDLE_SLICE, "it ends where the tensor does", narrow_short),
            },
        ),
        "slice_update": Op(forward=slice_update, takes=written(cut)),
        "slice_update_outside": Op(
            forward=slice_update,
            takes=written(cut_outside),
            invalid=always,
            documented={"jax": (JAX_UPDATE, "it begins where it fits", slice_update_clamped)},
        ),
        "slice_step": Op(forward=sliced, takes=shaped(slices)),
        "slice_backward": Op(forward=sliced, takes=shaped(backward_slices)),
        "slice_new_axis": Op(forward=slice_new_axis, takes=shaped(slices)),
        "unfold": Op(forward=unfold, takes=shaped(window, size=6)),
        "as_strided": Op(forward=as_strided, takes=strip),
        "slice_assign": Op(forward=slice_assign, takes=assigned),
        "slice_add_assign": Op(forward=slice_add_assign, takes=assigned),
        "assign_overlap": Op(forward=assign_overlap, takes=overlapping),
        "tril": Op(forward=tril, takes=shaped(SQUARE, low=2)),
        "triu": Op(forward=triu, takes=shaped(SQUARE, low=2)),
        "diagonal": Op(forward=diagonal_of, takes=shaped(diagonal, low=2)),
        "diag": Op(forward=diag, takes=vector(SQUARE)),
        "diag_embed": Op(forward=diag_embed, takes=shaped(SQUARE)),
        "set_diag": Op(forward=set_diag, takes=with_diagonal),
        "trace": Op(forward=trace, takes=shaped(low=2, high=2)),
        "diff": Op(forward=diff, takes=shaped(an_axis, options(count=(1, 2)), size=5)),
    },
)
