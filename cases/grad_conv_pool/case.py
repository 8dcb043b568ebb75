"""Windows that move over the last axes: convolutions and their transposes, pools, patches, and what makes these axes longer or shorter."""

from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from harness.sweep.op import Op, Sweep
from harness.sweep.windows import (
    convolution,
    convolved,
    patches,
    pool,
    resize,
    same_convolution,
    scaled,
    spatial_size,
    spread,
    transposed_convolution,
    window,
)


def _padded(x, before, after, fill=0.0):
    out = np.full([*x.shape[:2], *(b + n + a for b, n, a in zip(before, x.shape[2:], after, strict=True))], fill)
    out[(..., *(slice(b, b + n) for b, n in zip(before, x.shape[2:], strict=True)))] = x
    return out


def _windows(x, kernel, stride, dilation):
    """[batch, channels, *places, *kernel], a view."""
    span = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    seen = sliding_window_view(x, span, axis=tuple(range(2, x.ndim)))
    return seen[(slice(None), slice(None), *(slice(None, None, s) for s in stride), *(slice(None, None, d) for d in dilation))]


def conv(x, weight, bias=None, *, stride, padding, dilation, groups, after=None):
    kernel = weight.shape[2:]
    seen = _windows(_padded(x, padding, after or padding), kernel, stride, dilation)
    batch, channels, *places = seen.shape[: x.ndim]
    parts = seen.reshape(batch, groups, channels // groups, int(np.prod(places)), int(np.prod(kernel)))
    rows = weight.reshape(groups, -1, *parts.shape[2::2])
    y = np.einsum("ngcpk,gock->ngop", parts, rows).reshape(batch, -1, *places)
    return y if bias is None else y + bias.reshape(-1, *[1] * len(places))


def conv_same(x, weight, *, dilation):
    total = [(k - 1) * d for k, d in zip(weight.shape[2:], dilation, strict=True)]
    before = [t // 2 for t in total]
    after = [t - b for t, b in zip(total, before, strict=True)]
    return conv(x, weight, stride=[1] * len(total), padding=before, after=after, dilation=dilation, groups=1)


def conv_transpose(x, weight, bias=None, *, stride, padding, output_padding, dilation, groups):
    batch, channels, *spatial = x.shape
    sizes = list(zip(spatial, weight.shape[2:], stride, dilation, output_padding, strict=True))
    full = np.zeros([batch, groups, weight.shape[1], *((n - 1) * s + (k - 1) * d + 1 + e for n, k, s, d, e in sizes)])
    parts = x.reshape(batch, groups, channels // groups, *spatial)
    rows = weight.reshape(groups, channels // groups, *weight.shape[1:])
    for at in np.ndindex(*weight.shape[2:]):
        place = tuple(slice(a * d, a * d + (n - 1) * s + 1, s) for a, (n, _, s, d, _) in zip(at, sizes, strict=True))
        full[(..., *place)] += np.einsum("ngc...,gco->ngo...", parts, rows[(..., *at)])
    y = full.reshape(batch, -1, *full.shape[3:])
    y = y[(..., *(slice(p, n - p) for p, n in zip(padding, y.shape[2:], strict=True)))]
    return y if bias is None else y + bias.reshape(-1, *[1] * len(spatial))


def _rest(size, kernel, stride, padding):
    """How far past its padding a window reaches whose last place is rounded up; it has to begin in the input or in the padding before it."""
    places = -(-(size + 2 * padding - kernel) // stride) + 1
    places -= (places - 1) * stride >= size + padding
    return max(0, (places - 1) * stride + kernel - size - 2 * padding)


def max_pool(x, *, kernel, stride, padding, dilation=None, ceil=False):
    sizes = zip(x.shape[2:], kernel, stride, padding, strict=True)
    after = [s[-1] + _rest(*s) for s in sizes] if ceil else padding
    seen = _windows(_padded(x, padding, after, -np.inf), kernel, stride, dilation or [1] * len(kernel))
    return seen.max(axis=tuple(range(x.ndim, seen.ndim)))


def max_pool_ceil(x, *, kernel, stride, padding):
    return max_pool(x, kernel=kernel, stride=stride, padding=padding, ceil=True)


def avg_pool(x, *, kernel, stride, padding, include=True, ceil=False):
    rest = [_rest(*s) if ceil else 0 for s in zip(x.shape[2:], kernel, stride, padding, strict=True)]
    none, once = [0] * len(kernel), [1] * len(kernel)
    ones = np.ones((1, 1, *x.shape[2:]))
    counted = _padded(_padded(ones, padding, padding, 1.0 if include else 0.0), none, rest)
    axes = tuple(range(x.ndim, 2 * x.ndim - 2))
    total = _windows(_padded(_padded(x, padding, padding), none, rest), kernel, stride, once).sum(axis=axes)
    return total / _windows(counted, kernel, stride, once).sum(axis=axes)


def avg_pool_exclude(x, *, kernel, stride, padding):
    return avg_pool(x, kernel=kernel, stride=stride, padding=padding, include=False)


def avg_pool_ceil(x, *, kernel, stride, padding):
    return avg_pool(x, kernel=kernel, stride=stride, padding=padding, ceil=True)


def _shares(size, places):
    return [slice(i * size // places, -(-(i + 1) * size // places)) for i in range(places)]


def adaptive_avg_pool(x, *, size):
    for axis, places in enumerate(size, start=2):
        x = np.stack([np.moveaxis(x, axis, -1)[..., share].mean(-1) for share in _shares(x.shape[axis], places)], axis)
    return x


def adaptive_max_pool(x, *, size):
    for axis, places in enumerate(size, start=2):
        x = np.stack([np.moveaxis(x, axis, -1)[..., share].max(-1) for share in _shares(x.shape[axis], places)], axis)
    return x


def global_avg_pool(x):
    return x.mean(axis=tuple(range(2, x.ndim)))


def global_max_pool(x):
    return x.max(axis=tuple(range(2, x.ndim)))


def resize_nearest(x, *, size):
    for axis, places in enumerate(size, start=2):
        x = np.take(x, [i * x.shape[axis] // places for i in range(places)], axis)
    return x


def resize_nearest_exact(x, *, size):
    for axis, places in enumerate(size, start=2):
        x = np.take(x, [(2 * i + 1) * x.shape[axis] // (2 * places) for i in range(places)], axis)
    return x


def _cubic(far, a=-0.75):
    far = abs(far)
    return ((a + 2) * far - (a + 3)) * far**2 + 1 if far <= 1 else a * (((far - 5) * far + 8) * far - 4)


@lru_cache
def _weights(size, places, corners, cubic=False):
    """[places, size]: what share each number of an axis has in each of the resized one."""
    weights = np.zeros((places, size))
    for i in range(places):
        at = i * (size - 1) / max(places - 1, 1) if corners else (i + 0.5) * size / places - 0.5
        at = at if cubic else min(max(at, 0.0), size - 1.0)
        low = int(np.floor(at))
        for j in range(low - 1, low + 3) if cubic else (low, low + 1):
            weights[i, min(max(j, 0), size - 1)] += _cubic(at - j) if cubic else 1 - abs(at - j)
    return weights


def resize_linear(x, *, size, corners=False, cubic=False):
    for axis, places in enumerate(size, start=2):
        x = np.moveaxis(np.moveaxis(x, axis, -1) @ _weights(x.shape[axis], places, corners, cubic).T, -1, axis)
    return x


def resize_linear_corners(x, *, size):
    return resize_linear(x, size=size, corners=True)


def resize_bicubic(x, *, size, corners):
    return resize_linear(x, size=size, corners=corners, cubic=True)


def upsample_nearest(x, *, factor):
    return x.repeat(factor, 2).repeat(factor, 3)


def upsample_skip(x, *, factor):
    return np.concatenate([upsample_nearest(x, factor=factor).ravel(), x.ravel()])


def pixel_shuffle(x, *, factor):
    batch, channels, height, width = x.shape
    parts = x.reshape(batch, channels // factor**2, factor, factor, height, width)
    return parts.transpose(0, 1, 4, 2, 5, 3).reshape(batch, -1, height * factor, width * factor)


def pixel_unshuffle(x, *, factor):
    batch, channels, height, width = x.shape
    parts = x.reshape(batch, channels, height // factor, factor, width // factor, factor)
    return parts.transpose(0, 1, 3, 5, 2, 4).reshape(batch, -1, height // factor, width // factor)


def unfold(x, *, kernel, stride, padding, dilation):
    seen = _windows(_padded(x, padding, padding), kernel, stride, dilation)
    batch, channels, *_ = seen.shape
    return seen.transpose(0, 1, 4, 5, 2, 3).reshape(batch, channels * kernel[0] * kernel[1], -1)


def fold(x, *, size, kernel, stride, padding, dilation):
    full = np.zeros((x.shape[0], x.shape[1] // (kernel[0] * kernel[1]), *(n + 2 * p for n, p in zip(size, padding, strict=True))))
    seen = _windows(full, kernel, stride, dilation)
    parts = x.reshape(*full.shape[:2], *kernel, *seen.shape[2:4])
    for i, j in np.ndindex(*kernel):
        spots = [slice(a * d, a * d + (n - 1) * s + 1, s) for a, d, n, s in zip((i, j), dilation, seen.shape[2:4], stride, strict=True)]
        full[:, :, spots[0], spots[1]] += parts[:, :, i, j]
    return full[:, :, padding[0] : padding[0] + size[0], padding[1] : padding[1] + size[1]]


def local_response_norm(x, *, size, alpha, beta, k):
    """The sum of squares is over ``size`` channels, size // 2 of them before, and is divided by it."""
    squares = np.stack([(x[:, max(0, c - size // 2) : c + (size + 1) // 2] ** 2).sum(1) for c in range(x.shape[1])], axis=1)
    return x / (k + alpha / size * squares) ** beta


def _shares_off(asked, upstream):
    """A coordinate's roundings are absolute, and so are its shares': of a share that is 0 too. A number is in up to 2 p / n + 1 places of an axis."""
    x = asked.tensors["x"]
    reached = np.prod([2 * places / n + 1 for places, n in zip(asked.attributes["size"], x.shape[2:], strict=True)])
    return {"y": np.max(np.abs(x)), "x": reached * np.max(upstream)}


# Roundings of a resized number, an axis: of the coordinate (2), the share, the product, the sum.
CASE = Sweep(
    claim="Each operation that moves a window over the last axes has the value and the gradients of its definition, of every stride, padding and size.",
    failure="wrong-gradient",
    items={
        "conv1d": Op(forward=conv, takes=convolution(1, long="length"), terms=convolved),
        "conv2d": Op(forward=conv, takes=convolution(2), terms=convolved),
        "conv3d": Op(forward=conv, takes=convolution(3), terms=convolved),
        "conv1x1": Op(forward=conv, takes=convolution(2, kernel=1, long="channels"), terms=convolved),
        "conv2d_groups": Op(forward=conv, takes=convolution(2, groups=(2, 3)), terms=convolved),
        "depthwise_conv1d": Op(forward=conv, takes=convolution(1, depthwise=True, long="length"), terms=convolved),
        "depthwise_conv2d": Op(forward=conv, takes=convolution(2, depthwise=True), terms=convolved),
        "conv2d_same": Op(forward=conv_same, takes=same_convolution(2), terms=convolved),
        "conv_transpose1d": Op(forward=conv_transpose, takes=transposed_convolution(1), terms=convolved),
        "conv_transpose2d": Op(forward=conv_transpose, takes=transposed_convolution(2), terms=convolved),
        "conv_transpose3d": Op(forward=conv_transpose, takes=transposed_convolution(3), terms=convolved),
        "conv_transpose2d_groups": Op(forward=conv_transpose, takes=transposed_convolution(2, groups=(2, 3)), terms=convolved),
        "max_pool1d": Op(forward=max_pool, takes=pool(1, extra=("distinct", "ties", "nan")), terms=window),
        "max_pool2d": Op(forward=max_pool, takes=pool(2, extra=("distinct", "ties", "nan")), terms=window),
        "max_pool3d": Op(forward=max_pool, takes=pool(3, extra=("distinct", "ties", "nan")), terms=window),
        "max_pool2d_dilated": Op(forward=max_pool, takes=pool(2, extra=("distinct", "ties", "nan"), dilations=(2, 1, 3)), terms=window),
        "max_pool2d_ceil": Op(forward=max_pool_ceil, takes=pool(2, extra=("distinct", "ties", "nan")), terms=window),
        "avg_pool1d": Op(forward=avg_pool, takes=pool(1, extra=("nan",), long=True), terms=window),
        "avg_pool2d": Op(forward=avg_pool, takes=pool(2, extra=("nan",), long=True), terms=window),
        "avg_pool3d": Op(forward=avg_pool, takes=pool(3, extra=("nan",)), terms=window),
        "avg_pool2d_exclude": Op(forward=avg_pool_exclude, takes=pool(2, extra=("nan",), long=True), terms=window),
        "avg_pool2d_ceil": Op(forward=avg_pool_ceil, takes=pool(2, extra=("nan",)), terms=window),
        "adaptive_avg_pool1d": Op(forward=adaptive_avg_pool, takes=resize(1, sizes=(1, 2, 3, 5), extra=("nan",)), terms=spatial_size),
        "adaptive_avg_pool2d": Op(forward=adaptive_avg_pool, takes=resize(2, sizes=(1, 2, 3, 5), extra=("nan",)), terms=spatial_size),
        "adaptive_max_pool2d": Op(forward=adaptive_max_pool, takes=resize(2, sizes=(1, 2, 3, 5), extra=("distinct", "ties", "nan"))),
        "global_avg_pool": Op(forward=global_avg_pool, takes=spread(2, extra=("nan",), long=True), terms=spatial_size),
        "global_max_pool": Op(forward=global_max_pool, takes=spread(2, extra=("distinct", "ties", "nan"))),
        "resize_nearest": Op(forward=resize_nearest, takes=resize(2, extra=("nan",)), terms=spatial_size),
        "resize_nearest_exact": Op(forward=resize_nearest_exact, takes=resize(2, extra=("nan",)), terms=spatial_size),
        "resize_linear": Op(forward=resize_linear, takes=resize(1), terms=spatial_size, roundings=5, cancels=_shares_off),
        "resize_bilinear": Op(forward=resize_linear, takes=resize(2), terms=spatial_size, roundings=10, cancels=_shares_off),
        "resize_bilinear_corners": Op(
            forward=resize_linear_corners, takes=resize(2), terms=spatial_size, roundings=10, cancels=_shares_off
        ),
        "resize_bicubic": Op(
            forward=resize_bicubic,
            takes=resize(2, corners=(False, True)),
            terms=spatial_size,
            roundings=20,  # 5 of each polynomial more
            cancels=_shares_off,
        ),
        "upsample_nearest": Op(forward=upsample_nearest, takes=scaled()),
        "upsample_skip": Op(forward=upsample_skip, takes=scaled()),
        "pixel_shuffle": Op(forward=pixel_shuffle, takes=scaled(squeezed=True)),
        "pixel_unshuffle": Op(forward=pixel_unshuffle, takes=scaled(stretched=True)),
        "unfold": Op(forward=unfold, takes=patches(), terms=window),
        "fold": Op(forward=fold, takes=patches(folded=True), terms=window),
        "local_response_norm": Op(
            forward=local_response_norm,
            takes=spread(2, channels=(3, 2, 5, 1), size=(3, 5), alpha=(0.5, 1e-4), beta=(0.75, 0.5), k=(1.0, 2.0)),
            roundings=12,
        ),
        "local_response_norm_even": Op(
            forward=local_response_norm,
            takes=spread(2, channels=(3, 2, 5, 1), size=(2, 4), alpha=(0.5, 1e-4), beta=(0.75, 0.5), k=(1.0, 2.0)),
            roundings=12,
        ),
    },
)
