from tinygrad import Tensor, dtypes


def cat(a, b, c, axis):
    return Tensor.cat(a, b, c, dim=axis)


def stack(a, b, axis):
    return Tensor.stack(a, b, dim=axis)


def split(x, axis, sizes, part):
    return x.split(sizes, axis)[part]


def chunk(x, axis, count):
    return x.chunk(count, axis)[-1]


def tile(x, counts):
    return x.repeat(*counts)


def repeat_interleave(x, axis, count):
    return x.repeat_interleave(count, axis)


def broadcast_to(x, shape):
    return x.expand(*shape)


def flip(x, axes):
    return x.flip(axes)


def roll(x, axes, shifts):
    return x.roll(tuple(shifts), tuple(axes))


def roll_flat(x, shift):
    return x.roll(shift)


def permute(x, order):
    return x.permute(*order)


def swapaxes(x, axis1, axis2):
    return x.transpose(axis1, axis2)


def reshape(x, shape):
    return x.reshape(*shape)


def flatten(x):
    return x.flatten(1)


def unflatten(x, sizes):
    return x.unflatten(-1, tuple(sizes))


def squeeze(x, axis):
    return x.squeeze(axis)


def unsqueeze(x, axis):
    return x.unsqueeze(axis)


def views(x, order):
    return x.permute(*order)[1:, ..., ::2].flip(-1).reshape(-1)[1:]


def meshgrid(a, b, indexing):
    return Tensor.cat(*(part.flatten() for part in a.meshgrid(b, indexing=indexing)))


def clone(x):
    return x.clone() + x


def contiguous(x):
    return x.contiguous()


def cast(x, through):
    return x.cast(getattr(dtypes, through)).cast(x.dtype)


def cast_factor(x, through):
    return x * x.cast(getattr(dtypes, through)).cast(x.dtype)


def detach_sum(x):
    return x + (x * x).detach()


def detach_factor(a, b):
    return a * b * b.detach()


def straight_through(x):
    return x + (x.round() - x).detach()
