import mlx.core as mx


def _cuts(slices):
    return tuple(slice(*of) for of in slices)


def pad_constant(x, pads, value):
    return mx.pad(x, pads, constant_values=value)


def pad_replicate(x, pads):
    return mx.pad(x, [(0, 0), (0, 0), *pads], mode="edge")


def narrow(x, axis, start, length):
    size = list(x.shape)
    size[axis] = length
    return mx.slice(x, mx.array([start]), [axis], size)


def narrow_outside(x, axis, start, length):
    size = list(x.shape)
    size[axis] = length
    return mx.slice(x, mx.array([start]), [axis], size)


def slice_update(x, v, axis, start):
    return mx.slice_update(x, v, mx.array([start]), [axis])


def slice_update_outside(x, v, axis, start):
    return mx.slice_update(x, v, mx.array([start]), [axis])


def slice_step(x, slices):
    return x[_cuts(slices)]


def slice_backward(x, slices):
    return x[_cuts(slices)]


def slice_new_axis(x, slices):
    return x[..., None, slice(*slices[-1])]


def as_strided(x, size, step):
    return mx.as_strided(x, ((len(x) - size) // step + 1, size), (step, 1))


def slice_assign(x, v, slices):
    y = mx.array(x)
    y[_cuts(slices)] = v
    return y


def slice_add_assign(x, v, slices):
    y = mx.array(x)
    y[_cuts(slices)] += v
    return y


def assign_overlap(x, axis, by, forward):
    z = mx.swapaxes(x, 0, axis)
    if forward:
        z[by:] = z[:-by]
    else:
        z[:-by] = z[by:]
    return mx.swapaxes(z, 0, axis)


def tril(x, k):
    return mx.tril(x, k)


def triu(x, k):
    return mx.triu(x, k)


def diagonal(x, axis1, axis2, offset):
    return mx.diagonal(x, offset, axis1, axis2)


def diag(x, k):
    return mx.diag(x, k)


def trace(x):
    return mx.trace(x)


def diff(x, axis, count):
    return mx.diff(x, count, axis)
