import paddle
import paddle.nn.functional as F

LAYOUTS = {1: "NCL", 2: "NCHW", 3: "NCDHW"}


def _flat(pads):
    """The last axis comes first."""
    return [size for pair in reversed(pads) for size in pair]


def _cuts(slices):
    return tuple(slice(*of) for of in slices)


def _padded(x, pads, mode):
    return F.pad(x, _flat(pads), mode, data_format=LAYOUTS[len(pads)])


def pad_constant(x, pads, value):
    return F.pad(x, [size for pair in pads for size in pair], value=value, pad_from_left_axis=True)


def pad_reflect(x, pads):
    return _padded(x, pads, "reflect")


def pad_replicate(x, pads):
    return _padded(x, pads, "replicate")


def pad_circular(x, pads):
    return _padded(x, pads, "circular")


def narrow(x, axis, start, length):
    return paddle.slice(x, [axis], [start], [start + length])


def narrow_outside(x, axis, start, length):
    return paddle.slice(x, [axis], [start], [start + length])


def slice_update(x, v, axis, start):
    return paddle.slice_scatter(x, v, [axis], [start], [start + v.shape[axis]], [1])


def slice_update_outside(x, v, axis, start):
    return paddle.slice_scatter(x, v, [axis], [start], [start + v.shape[axis]], [1])


def slice_step(x, slices):
    return x[_cuts(slices)]


def slice_backward(x, slices):
    return x[_cuts(slices)]


def slice_new_axis(x, slices):
    return x[..., None, slice(*slices[-1])]


def unfold(x, axis, size, step):
    return paddle.unfold(x, axis, size, step)


def as_strided(x, size, step):
    return paddle.as_strided(x.contiguous(), [(len(x) - size) // step + 1, size], [step, 1])


def slice_assign(x, v, slices):
    y = x.clone()
    y[_cuts(slices)] = v
    return y


def slice_add_assign(x, v, slices):
    y = x.clone()
    y[_cuts(slices)] += v
    return y


def assign_overlap(x, axis, by, forward):
    z = paddle.swapaxes(x, 0, axis).clone()
    if forward:
        z[by:] = z[:-by]
    else:
        z[:-by] = z[by:]
    return paddle.swapaxes(z, 0, axis)


def tril(x, k):
    return paddle.tril(x, k)


def triu(x, k):
    return paddle.triu(x, k)


def diagonal(x, axis1, axis2, offset):
    return paddle.diagonal(x, offset, axis1, axis2)


def diag(x, k):
    return paddle.diag(x, k)


def diag_embed(x, k):
    return paddle.diag_embed(x, k)


def set_diag(x, v):
    return paddle.diagonal_scatter(x, v, 0, -2, -1)


def trace(x):
    return paddle.trace(x)


def diff(x, axis, count):
    return paddle.diff(x, count, axis)
