import tensorflow as tf


def cat(a, b, c, axis):
    return tf.concat([a, b, c], axis)


def stack(a, b, axis):
    return tf.stack([a, b], axis)


def split(x, axis, sizes, part):
    return tf.split(x, sizes, axis)[part]


def unstack(x, axis):
    return tf.unstack(x, axis=axis)[-1]


def tile(x, counts):
    return tf.tile(x, counts)


def repeat_interleave(x, axis, count):
    return tf.repeat(x, count, axis)


def repeat_each(x, axis):
    return tf.repeat(x, tf.range(x.shape[axis]), axis)


def broadcast_to(x, shape):
    return tf.broadcast_to(x, shape)


def flip(x, axes):
    return tf.reverse(x, axes)


def roll(x, axes, shifts):
    return tf.roll(x, shifts, axes)


def permute(x, order):
    return tf.transpose(x, order)


def swapaxes(x, axis1, axis2):
    return tf.experimental.numpy.swapaxes(x, axis1, axis2)


def moveaxis(x, axis1, axis2):
    return tf.experimental.numpy.moveaxis(x, axis1, axis2)


def reshape(x, shape):
    return tf.reshape(x, shape)


def squeeze(x, axis):
    return tf.squeeze(x, axis)


def unsqueeze(x, axis):
    return tf.expand_dims(x, axis)


def views(x, order):
    return tf.reshape(tf.reverse(tf.transpose(x, order)[1:, ..., ::2], [-1]), [-1])[1:]


def meshgrid(a, b, indexing):
    return tf.concat([tf.reshape(part, [-1]) for part in tf.meshgrid(a, b, indexing=indexing)], 0)


def clone(x):
    return tf.identity(x) + x


def cast(x, through):
    return tf.cast(tf.cast(x, through), x.dtype)


def cast_factor(x, through):
    return x * tf.cast(tf.cast(x, through), x.dtype)


def detach_sum(x):
    return x + tf.stop_gradient(x * x)


def detach_factor(a, b):
    return a * b * tf.stop_gradient(b)


def straight_through(x):
    return x + tf.stop_gradient(tf.round(x) - x)
