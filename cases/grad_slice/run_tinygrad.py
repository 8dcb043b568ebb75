def _flat(pads):
    """The last axis comes first."""
    return tuple(size for pair in reversed(pads) for size in pair)


def _cuts(slices):
    return tuple(slice(*of) for of in slices)


def pad_constant(x, pads, value):
    return x.pad(_flat(pads), value=value)


def pad_crop(x, pads):
    return x.pad(_flat(pads))


def pad_reflect(x, pads):
    return x.pad(_flat(pads), mode="reflect")


def pad_replicate(x, pads):
    return x.pad(_flat(pads), mode="replicate")


def pad_circular(x, pads):
    return x.pad(_flat(pads), mode="circular")


def narrow(x, axis, start, length):
    return x.shrink(tuple((start, start + length) if at == axis % x.ndim else None for at in range(x.ndim)))


def narrow_outside(x, axis, start, length):
    return x.shrink(tuple((start, start + length) if at == axis % x.ndim else None for at in range(x.ndim)))


def slice_step(x, slices):
    return x[_cuts(slices)]


def slice_backward(x, slices):
    return x[_cuts(slices)]


def slice_new_axis(x, slices):
    return x[..., None, slice(*slices[-1])]


def unfold(x, axis, size, step):
    return x.unfold(axis, size, step)


def slice_assign(x, v, slices):
    y = x.clone()
    y[_cuts(slices)] = v
    return y


def slice_add_assign(x, v, slices):
    y = x.clone()
    y[_cuts(slices)] += v
    return y


def assign_overlap(x, axis, by, forward):
    z = x.transpose(0, axis).clone()
    if forward:
        z[by:] = z[:-by]
    else:
        z[:-by] = z[by:]
    return z.transpose(0, axis)


def tril(x, k):
    return x.tril(k)


def triu(x, k):
    return x.triu(k)


def diagonal(x, axis1, axis2, offset):
    return x.diagonal(offset, axis1, axis2)
