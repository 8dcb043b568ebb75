import paddle
import paddle.nn.functional as F


def cat(a, b, c, axis):
    return paddle.concat([a, b, c], axis)


def stack(a, b, axis):
    return paddle.stack([a, b], axis)


def split(x, axis, sizes, part):
    return paddle.split(x, sizes, axis)[part]


def unstack(x, axis):
    return paddle.unbind(x, axis)[-1]


def tile(x, counts):
    return paddle.tile(x, counts)


def repeat_interleave(x, axis, count):
    return paddle.repeat_interleave(x, count, axis)


def repeat_each(x, axis):
    return paddle.repeat_interleave(x, paddle.arange(x.shape[axis]), axis)


def broadcast_to(x, shape):
    return paddle.broadcast_to(x, shape)


def flip(x, axes):
    return paddle.flip(x, axes)


def roll(x, axes, shifts):
    return paddle.roll(x, shifts, axes)


def roll_flat(x, shift):
    return paddle.roll(x, shift)


def rot90(x, turns):
    return paddle.rot90(x, turns)


def permute(x, order):
    return paddle.transpose(x, order)


def swapaxes(x, axis1, axis2):
    return paddle.swapaxes(x, axis1, axis2)


def moveaxis(x, axis1, axis2):
    return paddle.moveaxis(x, axis1, axis2)


def reshape(x, shape):
    return paddle.reshape(x, shape)


def flatten(x):
    return paddle.flatten(x, 1)


def unflatten(x, sizes):
    return paddle.unflatten(x, -1, sizes)


def squeeze(x, axis):
    return paddle.squeeze(x, axis)


def unsqueeze(x, axis):
    return paddle.unsqueeze(x, axis)


def views(x, order):
    return paddle.flip(x.transpose(order)[1:, ..., ::2], -1).reshape([-1])[1:]


def meshgrid(a, b, indexing):
    return paddle.concat([part.flatten() for part in paddle.meshgrid(a, b, indexing=indexing)])


def block_diag(a, b):
    return paddle.block_diag([a, b])


def clone(x):
    return x.clone() + x


def contiguous(x):
    return x.contiguous()


def cast(x, through):
    return x.astype(through).astype(x.dtype)


def cast_factor(x, through):
    return x * x.astype(through).astype(x.dtype)


def detach_sum(x):
    return x + (x * x).detach()


def detach_factor(a, b):
    return a * b * b.detach()


def straight_through(x):
    return x + (paddle.round(x) - x).detach()


def pixel_shuffle(x, factor):
    return F.pixel_shuffle(x, factor)


def pixel_unshuffle(x, factor):
    return F.pixel_unshuffle(x, factor)
