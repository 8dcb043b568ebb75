import tensorflow as tf


def _cuts(slices):
    return tuple(slice(*of) for of in slices)


def pad_constant(x, pads, value):
    return tf.pad(x, pads, constant_values=value)


def pad_reflect(x, pads):
    return tf.pad(x, [[0, 0], [0, 0], *pads], "REFLECT")


def pad_symmetric(x, pads):
    return tf.pad(x, [[0, 0], [0, 0], *pads], "SYMMETRIC")


def narrow(x, axis, start, length):
    begin, size = [0] * len(x.shape), list(x.shape)
    begin[axis], size[axis] = start, length
    return tf.slice(x, begin, size)


def narrow_outside(x, axis, start, length):
    begin, size = [0] * len(x.shape), list(x.shape)
    begin[axis], size[axis] = start, length
    return tf.slice(x, begin, size)


def slice_step(x, slices):
    return x[_cuts(slices)]


def slice_backward(x, slices):
    return x[_cuts(slices)]


def slice_new_axis(x, slices):
    return x[..., None, slice(*slices[-1])]


def tril(x, k):
    return tf.experimental.numpy.tril(x, k)


def triu(x, k):
    return tf.experimental.numpy.triu(x, k)


def diag(x, k):
    return tf.linalg.diag(x, k=k)


def diag_embed(x, k):
    return tf.linalg.diag(x, k=k)


def set_diag(x, v):
    return tf.linalg.set_diag(x, v)


def trace(x):
    return tf.linalg.trace(x)
