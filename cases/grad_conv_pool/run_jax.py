import math

import jax
import jax.numpy as jnp
from jax import lax


def _conv(x, weight, bias, stride, padding, dilation, groups):
    y = lax.conv_general_dilated(x, weight, stride, [(p, p) for p in padding], rhs_dilation=dilation, feature_group_count=groups)
    return y if bias is None else y + bias.reshape(-1, *[1] * len(stride))


def _conv_transpose(x, weight, bias, stride, padding, output_padding, dilation, dimension_numbers):
    reach = [(k - 1) * d - p for k, d, p in zip(weight.shape[2:], dilation, padding, strict=True)]
    pads = [(r, r + extra) for r, extra in zip(reach, output_padding, strict=True)]
    y = lax.conv_transpose(x, weight, stride, pads, dilation, dimension_numbers, transpose_kernel=True)
    return y if bias is None else y + bias.reshape(-1, *[1] * len(stride))


def _pool(x, start, function, kernel, stride, padding, **more):
    pads = [(0, 0), (0, 0), *((p, p) for p in padding)]
    return lax.reduce_window(x, start, function, (1, 1, *kernel), (1, 1, *stride), pads, **more)


def conv1d(x, weight, bias=None, *, stride, padding, dilation, groups):
    return _conv(x, weight, bias, stride, padding, dilation, groups)


def conv2d(x, weight, bias=None, *, stride, padding, dilation, groups):
    return _conv(x, weight, bias, stride, padding, dilation, groups)


def conv3d(x, weight, bias=None, *, stride, padding, dilation, groups):
    return _conv(x, weight, bias, stride, padding, dilation, groups)


def conv1x1(x, weight, bias=None, *, stride, padding, dilation, groups):
    return _conv(x, weight, bias, stride, padding, dilation, groups)


def conv2d_groups(x, weight, bias=None, *, stride, padding, dilation, groups):
    return _conv(x, weight, bias, stride, padding, dilation, groups)


def depthwise_conv1d(x, weight, bias=None, *, stride, padding, dilation, groups):
    return _conv(x, weight, bias, stride, padding, dilation, groups)


def depthwise_conv2d(x, weight, bias=None, *, stride, padding, dilation, groups):
    return _conv(x, weight, bias, stride, padding, dilation, groups)


def conv2d_same(x, weight, *, dilation):
    return lax.conv_general_dilated(x, weight, (1, 1), "SAME", rhs_dilation=dilation)


def conv_transpose1d(x, weight, bias=None, *, stride, padding, output_padding, dilation, **_):
    return _conv_transpose(x, weight, bias, stride, padding, output_padding, dilation, ("NCH", "OIH", "NCH"))


def conv_transpose2d(x, weight, bias=None, *, stride, padding, output_padding, dilation, **_):
    return _conv_transpose(x, weight, bias, stride, padding, output_padding, dilation, ("NCHW", "OIHW", "NCHW"))


def conv_transpose3d(x, weight, bias=None, *, stride, padding, output_padding, dilation, **_):
    return _conv_transpose(x, weight, bias, stride, padding, output_padding, dilation, ("NCDHW", "OIDHW", "NCDHW"))


def max_pool1d(x, *, kernel, stride, padding):
    return _pool(x, -jnp.inf, lax.max, kernel, stride, padding)


def max_pool2d(x, *, kernel, stride, padding):
    return _pool(x, -jnp.inf, lax.max, kernel, stride, padding)


def max_pool3d(x, *, kernel, stride, padding):
    return _pool(x, -jnp.inf, lax.max, kernel, stride, padding)


def max_pool2d_dilated(x, *, kernel, stride, padding, dilation):
    return _pool(x, -jnp.inf, lax.max, kernel, stride, padding, window_dilation=(1, 1, *dilation))


def avg_pool1d(x, *, kernel, stride, padding):
    return _pool(x, 0.0, lax.add, kernel, stride, padding) / math.prod(kernel)


def avg_pool2d(x, *, kernel, stride, padding):
    return _pool(x, 0.0, lax.add, kernel, stride, padding) / math.prod(kernel)


def avg_pool3d(x, *, kernel, stride, padding):
    return _pool(x, 0.0, lax.add, kernel, stride, padding) / math.prod(kernel)


def avg_pool2d_exclude(x, *, kernel, stride, padding):
    counts = _pool(jnp.ones_like(x), 0.0, lax.add, kernel, stride, padding)
    return _pool(x, 0.0, lax.add, kernel, stride, padding) / counts


def global_avg_pool(x):
    return x.mean(axis=(2, 3))


def global_max_pool(x):
    return x.max(axis=(2, 3))


def resize_nearest_exact(x, *, size):
    return jax.image.resize(x, (*x.shape[:2], *size), "nearest")


def resize_linear(x, *, size):
    return jax.image.resize(x, (*x.shape[:2], *size), "linear", antialias=False)


def resize_bilinear(x, *, size):
    return jax.image.resize(x, (*x.shape[:2], *size), "bilinear", antialias=False)


def upsample_nearest(x, *, factor):
    return jax.image.resize(x, (*x.shape[:2], x.shape[2] * factor, x.shape[3] * factor), "nearest")


def upsample_skip(x, *, factor):
    return jnp.concatenate([upsample_nearest(x, factor=factor).ravel(), x.ravel()])


def unfold(x, *, kernel, stride, padding, dilation):
    y = lax.conv_general_dilated_patches(x, kernel, stride, [(p, p) for p in padding], rhs_dilation=dilation)
    return y.reshape(*y.shape[:2], -1)
