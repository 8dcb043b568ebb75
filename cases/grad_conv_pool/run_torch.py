import torch
import torch.nn.functional as F


def conv1d(x, weight, bias=None, *, stride, padding, dilation, groups):
    return F.conv1d(x, weight, bias, stride, padding, dilation, groups)


def conv2d(x, weight, bias=None, *, stride, padding, dilation, groups):
    return F.conv2d(x, weight, bias, stride, padding, dilation, groups)


def conv3d(x, weight, bias=None, *, stride, padding, dilation, groups):
    return F.conv3d(x, weight, bias, stride, padding, dilation, groups)


def conv1x1(x, weight, bias=None, *, stride, padding, dilation, groups):
    return F.conv2d(x, weight, bias, stride, padding, dilation, groups)


def conv2d_groups(x, weight, bias=None, *, stride, padding, dilation, groups):
    return F.conv2d(x, weight, bias, stride, padding, dilation, groups)


def depthwise_conv1d(x, weight, bias=None, *, stride, padding, dilation, groups):
    return F.conv1d(x, weight, bias, stride, padding, dilation, groups)


def depthwise_conv2d(x, weight, bias=None, *, stride, padding, dilation, groups):
    return F.conv2d(x, weight, bias, stride, padding, dilation, groups)


def conv2d_same(x, weight, *, dilation):
    return F.conv2d(x, weight, padding="same", dilation=dilation)


def conv_transpose1d(x, weight, bias=None, *, stride, padding, output_padding, dilation, groups):
    return F.conv_transpose1d(x, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(x, weight, bias=None, *, stride, padding, output_padding, dilation, groups):
    return F.conv_transpose2d(x, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose3d(x, weight, bias=None, *, stride, padding, output_padding, dilation, groups):
    return F.conv_transpose3d(x, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d_groups(x, weight, bias=None, *, stride, padding, output_padding, dilation, groups):
    return F.conv_transpose2d(x, weight, bias, stride, padding, output_padding, groups, dilation)


def max_pool1d(x, *, kernel, stride, padding):
    return F.max_pool1d(x, kernel, stride, padding)


def max_pool2d(x, *, kernel, stride, padding):
    return F.max_pool2d(x, kernel, stride, padding)


def max_pool3d(x, *, kernel, stride, padding):
    return F.max_pool3d(x, kernel, stride, padding)


def max_pool2d_dilated(x, *, kernel, stride, padding, dilation):
    return F.max_pool2d(x, kernel, stride, padding, dilation)


def max_pool2d_ceil(x, *, kernel, stride, padding):
    return F.max_pool2d(x, kernel, stride, padding, ceil_mode=True)


def avg_pool1d(x, *, kernel, stride, padding):
    return F.avg_pool1d(x, kernel, stride, padding)


def avg_pool2d(x, *, kernel, stride, padding):
    return F.avg_pool2d(x, kernel, stride, padding)


def avg_pool3d(x, *, kernel, stride, padding):
    return F.avg_pool3d(x, kernel, stride, padding)


def avg_pool2d_exclude(x, *, kernel, stride, padding):
    return F.avg_pool2d(x, kernel, stride, padding, count_include_pad=False)


def avg_pool2d_ceil(x, *, kernel, stride, padding):
    return F.avg_pool2d(x, kernel, stride, padding, ceil_mode=True)


def adaptive_avg_pool1d(x, *, size):
    return F.adaptive_avg_pool1d(x, size)


def adaptive_avg_pool2d(x, *, size):
    return F.adaptive_avg_pool2d(x, size)


def adaptive_max_pool2d(x, *, size):
    return F.adaptive_max_pool2d(x, size)


def global_avg_pool(x):
    return F.adaptive_avg_pool2d(x, 1).flatten(1)


def global_max_pool(x):
    return F.adaptive_max_pool2d(x, 1).flatten(1)


def resize_nearest(x, *, size):
    return F.interpolate(x, size, mode="nearest")


def resize_nearest_exact(x, *, size):
    return F.interpolate(x, size, mode="nearest-exact")


def resize_linear(x, *, size):
    return F.interpolate(x, size, mode="linear")


def resize_bilinear(x, *, size):
    return F.interpolate(x, size, mode="bilinear")


def resize_bilinear_corners(x, *, size):
    return F.interpolate(x, size, mode="bilinear", align_corners=True)


def resize_bicubic(x, *, size, corners):
    return F.interpolate(x, size, mode="bicubic", align_corners=corners)


def upsample_nearest(x, *, factor):
    return F.interpolate(x, scale_factor=factor)


def upsample_skip(x, *, factor):
    return torch.cat([F.interpolate(x, scale_factor=factor).flatten(), x.flatten()])


def pixel_shuffle(x, *, factor):
    return F.pixel_shuffle(x, factor)


def pixel_unshuffle(x, *, factor):
    return F.pixel_unshuffle(x, factor)


def unfold(x, *, kernel, stride, padding, dilation):
    return F.unfold(x, kernel, dilation, padding, stride)


def fold(x, *, size, kernel, stride, padding, dilation):
    return F.fold(x, size, kernel, dilation, padding, stride)


def local_response_norm(x, *, size, alpha, beta, k):
    return F.local_response_norm(x, size, alpha, beta, k)


def local_response_norm_even(x, *, size, alpha, beta, k):
    return F.local_response_norm(x, size, alpha, beta, k)
