import mlx.core as mx


def cat(a, b, c, axis):
    return mx.concatenate([a, b, c], axis)


def stack(a, b, axis):
    return mx.stack([a, b], axis)


def split(x, axis, sizes, part):
    return mx.split(x, [sizes[0], sizes[0] + sizes[1]], axis)[part]


def unstack(x, axis):
    return mx.unstack(x, axis=axis)[-1]


def tile(x, counts):
    return mx.tile(x, counts)


def repeat_interleave(x, axis, count):
    return mx.repeat(x, count, axis)


def broadcast_to(x, shape):
    return mx.broadcast_to(x, shape)


def flip(x, axes):
    return mx.flip(x, axes)


def roll(x, axes, shifts):
    return mx.roll(x, tuple(shifts), tuple(axes))


def roll_flat(x, shift):
    return mx.roll(x, shift)


def permute(x, order):
    return mx.transpose(x, order)


def swapaxes(x, axis1, axis2):
    return mx.swapaxes(x, axis1, axis2)


def moveaxis(x, axis1, axis2):
    return mx.moveaxis(x, axis1, axis2)


def reshape(x, shape):
    return mx.reshape(x, shape)


def flatten(x):
    return mx.flatten(x, 1)


def unflatten(x, sizes):
    return mx.unflatten(x, -1, sizes)


def squeeze(x, axis):
    return mx.squeeze(x, axis)


def unsqueeze(x, axis):
    return mx.expand_dims(x, axis)


def views(x, order):
    return mx.flip(x.transpose(order)[1:, ..., ::2], -1).reshape(-1)[1:]


def meshgrid(a, b, indexing):
    return mx.concatenate([part.flatten() for part in mx.meshgrid(a, b, indexing=indexing)])


def clone(x):
    return mx.array(x) + x


def contiguous(x):
    return mx.contiguous(x)


def cast(x, through):
    return x.astype(getattr(mx, through)).astype(x.dtype)


def cast_factor(x, through):
    return x * x.astype(getattr(mx, through)).astype(x.dtype)


def detach_sum(x):
    return x + mx.stop_gradient(x * x)


def detach_factor(a, b):
    return a * b * mx.stop_gradient(b)


def straight_through(x):
    return x + mx.stop_gradient(mx.round(x) - x)
