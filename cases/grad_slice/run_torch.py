import torch
import torch.nn.functional as F


def _flat(pads):
    """The last axis comes first."""
    return [size for pair in reversed(pads) for size in pair]


def _cuts(slices):
    return tuple(slice(*of) for of in slices)


def pad_constant(x, pads, value):
    return F.pad(x, _flat(pads), value=value)


def pad_crop(x, pads):
    return F.pad(x, _flat(pads))


def pad_reflect(x, pads):
    return F.pad(x, _flat(pads), "reflect")


def pad_replicate(x, pads):
    return F.pad(x, _flat(pads), "replicate")


def pad_circular(x, pads):
    return F.pad(x, _flat(pads), "circular")


def narrow(x, axis, start, length):
    return torch.narrow(x, axis, start, length)


def narrow_outside(x, axis, start, length):
    return torch.narrow(x, axis, start, length)


def slice_update(x, v, axis, start):
    return torch.slice_scatter(x, v, axis, start, start + v.shape[axis])


def slice_update_outside(x, v, axis, start):
    return torch.slice_scatter(x, v, axis, start, start + v.shape[axis])


def slice_step(x, slices):
    return x[_cuts(slices)]


def slice_new_axis(x, slices):
    return x[..., None, slice(*slices[-1])]


def unfold(x, axis, size, step):
    return x.unfold(axis, size, step)


def as_strided(x, size, step):
    return torch.as_strided(x.contiguous(), ((len(x) - size) // step + 1, size), (step, 1))


def slice_assign(x, v, slices):
    y = x.clone()
    y[_cuts(slices)] = v
    return y


def slice_add_assign(x, v, slices):
    y = x.clone()
    y[_cuts(slices)] += v
    return y


def assign_overlap(x, axis, by, forward):
    # What is read and written in one storage has to be copied first: torch refuses it otherwise.
    y = x.clone()
    z = y.swapaxes(0, axis)
    if forward:
        z[by:] = z[:-by].clone()
    else:
        z[:-by] = z[by:].clone()
    return y


def tril(x, k):
    return torch.tril(x, k)


def triu(x, k):
    return torch.triu(x, k)


def diagonal(x, axis1, axis2, offset):
    return torch.diagonal(x, offset, axis1, axis2)


def diag(x, k):
    return torch.diag(x, k)


def diag_embed(x, k):
    return torch.diag_embed(x, k)


def set_diag(x, v):
    return torch.diagonal_scatter(x, v, 0, -2, -1)


def trace(x):
    return torch.trace(x)


def diff(x, axis, count):
    return torch.diff(x, count, axis)
