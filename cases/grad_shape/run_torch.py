import torch
import torch.nn.functional as F


def cat(a, b, c, axis):
    return torch.cat([a, b, c], axis)


def stack(a, b, axis):
    return torch.stack([a, b], axis)


def split(x, axis, sizes, part):
    return torch.split(x, sizes, axis)[part]


def chunk(x, axis, count):
    return torch.chunk(x, count, axis)[-1]


def unstack(x, axis):
    return torch.unbind(x, axis)[-1]


def tile(x, counts):
    return torch.tile(x, counts)


def repeat_interleave(x, axis, count):
    return torch.repeat_interleave(x, count, axis)


def repeat_each(x, axis):
    return torch.repeat_interleave(x, torch.arange(x.shape[axis]), axis)


def broadcast_to(x, shape):
    return torch.broadcast_to(x, shape)


def flip(x, axes):
    return torch.flip(x, axes)


def roll(x, axes, shifts):
    return torch.roll(x, shifts, axes)


def roll_flat(x, shift):
    return torch.roll(x, shift)


def rot90(x, turns):
    return torch.rot90(x, turns)


def permute(x, order):
    return torch.permute(x, order)


def swapaxes(x, axis1, axis2):
    return torch.swapaxes(x, axis1, axis2)


def moveaxis(x, axis1, axis2):
    return torch.moveaxis(x, axis1, axis2)


def reshape(x, shape):
    return torch.reshape(x, shape)


def flatten(x):
    return torch.flatten(x, 1)


def unflatten(x, sizes):
    return torch.unflatten(x, -1, sizes)


def squeeze(x, axis):
    return torch.squeeze(x, axis)


def unsqueeze(x, axis):
    return torch.unsqueeze(x, axis)


def views(x, order):
    return x.permute(order)[1:, ..., ::2].flip(-1).reshape(-1)[1:]


def meshgrid(a, b, indexing):
    return torch.cat([part.flatten() for part in torch.meshgrid(a, b, indexing=indexing)])


def block_diag(a, b):
    return torch.block_diag(a, b)


def clone(x):
    return x.clone() + x


def contiguous(x):
    return x.contiguous()


def cast(x, through):
    return x.to(getattr(torch, through)).to(x.dtype)


def cast_factor(x, through):
    return x * x.to(getattr(torch, through)).to(x.dtype)


def detach_sum(x):
    return x + (x * x).detach()


def detach_factor(a, b):
    return a * b * b.detach()


def straight_through(x):
    return x + (torch.round(x) - x).detach()


def pixel_shuffle(x, factor):
    return F.pixel_shuffle(x, factor)


def pixel_unshuffle(x, factor):
    return F.pixel_unshuffle(x, factor)
