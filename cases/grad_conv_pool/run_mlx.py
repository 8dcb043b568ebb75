import mlx.core as mx
from mlx import nn


def _last(x):
    return mx.moveaxis(x, 1, -1)


def _first(x):
    return mx.moveaxis(x, -1, 1)


def _biased(y, bias):
    return _first(y if bias is None else y + bias)


def _turned(weight, groups):
    """[from, to / groups, ...] -> [to, ..., from / groups]."""
    parts = weight.reshape(groups, -1, *weight.shape[1:])
    return mx.moveaxis(parts, 1, -1).reshape(-1, *weight.shape[2:], weight.shape[0] // groups)


def _upsampled(x, size, **how):
    factors = tuple(places / n for places, n in zip(size, x.shape[2:], strict=True))
    return _first(nn.Upsample(factors, **how)(_last(x)))


def conv1d(x, weight, bias=None, *, stride, padding, dilation, groups):
    return _biased(mx.conv1d(_last(x), _last(weight), stride[0], padding[0], dilation[0], groups), bias)


def conv2d(x, weight, bias=None, *, stride, padding, dilation, groups):
    return _biased(mx.conv2d(_last(x), _last(weight), stride, padding, dilation, groups), bias)


def conv3d(x, weight, bias=None, *, stride, padding, dilation, groups):
    return _biased(mx.conv3d(_last(x), _last(weight), stride, padding, dilation, groups), bias)


def conv1x1(x, weight, bias=None, *, stride, padding, dilation, groups):
    return _biased(mx.conv2d(_last(x), _last(weight), stride, padding, dilation, groups), bias)


def conv2d_groups(x, weight, bias=None, *, stride, padding, dilation, groups):
    return _biased(mx.conv2d(_last(x), _last(weight), stride, padding, dilation, groups), bias)


def depthwise_conv1d(x, weight, bias=None, *, stride, padding, dilation, groups):
    return _biased(mx.conv1d(_last(x), _last(weight), stride[0], padding[0], dilation[0], groups), bias)


def depthwise_conv2d(x, weight, bias=None, *, stride, padding, dilation, groups):
    return _biased(mx.conv2d(_last(x), _last(weight), stride, padding, dilation, groups), bias)


def conv_transpose1d(x, weight, bias=None, *, stride, padding, output_padding, dilation, groups):
    y = mx.conv_transpose1d(_last(x), _turned(weight, groups), stride[0], padding[0], dilation[0], output_padding[0], groups)
    return _biased(y, bias)


def conv_transpose2d(x, weight, bias=None, *, stride, padding, output_padding, dilation, groups):
    y = mx.conv_transpose2d(_last(x), _turned(weight, groups), stride, padding, dilation, output_padding, groups)
    return _biased(y, bias)


def conv_transpose3d(x, weight, bias=None, *, stride, padding, output_padding, dilation, groups):
    y = mx.conv_transpose3d(_last(x), _turned(weight, groups), stride, padding, dilation, output_padding, groups)
    return _biased(y, bias)


def conv_transpose2d_groups(x, weight, bias=None, *, stride, padding, output_padding, dilation, groups):
    y = mx.conv_transpose2d(_last(x), _turned(weight, groups), stride, padding, dilation, output_padding, groups)
    return _biased(y, bias)


def max_pool1d(x, *, kernel, stride, padding):
    return _first(nn.MaxPool1d(kernel[0], stride[0], padding[0])(_last(x)))


def max_pool2d(x, *, kernel, stride, padding):
    return _first(nn.MaxPool2d(kernel, stride, padding)(_last(x)))


def max_pool3d(x, *, kernel, stride, padding):
    return _first(nn.MaxPool3d(kernel, stride, padding)(_last(x)))


def avg_pool1d(x, *, kernel, stride, padding):
    return _first(nn.AvgPool1d(kernel[0], stride[0], padding[0])(_last(x)))


def avg_pool2d(x, *, kernel, stride, padding):
    return _first(nn.AvgPool2d(kernel, stride, padding)(_last(x)))


def avg_pool3d(x, *, kernel, stride, padding):
    return _first(nn.AvgPool3d(kernel, stride, padding)(_last(x)))


def global_avg_pool(x):
    return mx.mean(x, axis=(2, 3))


def global_max_pool(x):
    return mx.max(x, axis=(2, 3))


def resize_linear(x, *, size):
    return _upsampled(x, size, mode="linear")


def resize_bilinear(x, *, size):
    return _upsampled(x, size, mode="linear")


def resize_bilinear_corners(x, *, size):
    return _upsampled(x, size, mode="linear", align_corners=True)


def resize_bicubic(x, *, size, corners):
    return _upsampled(x, size, mode="cubic", align_corners=corners)


def upsample_nearest(x, *, factor):
    return _first(nn.Upsample(factor)(_last(x)))


def upsample_skip(x, *, factor):
    return mx.concatenate([upsample_nearest(x, factor=factor).flatten(), x.flatten()])
