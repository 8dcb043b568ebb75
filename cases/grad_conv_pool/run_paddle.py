import paddle
import paddle.nn.functional as F


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
    return F.conv2d(x, weight, padding="SAME", dilation=dilation)


def conv_transpose1d(x, weight, bias=None, *, stride, padding, output_padding, dilation, groups):
    more = {"output_padding": output_padding, "dilation": dilation, "groups": groups}
    return F.conv1d_transpose(x, weight, bias, stride, padding, **more)


def conv_transpose2d(x, weight, bias=None, *, stride, padding, output_padding, dilation, groups):
    more = {"output_padding": output_padding, "dilation": dilation, "groups": groups}
    return F.conv2d_transpose(x, weight, bias, stride, padding, **more)


def conv_transpose3d(x, weight, bias=None, *, stride, padding, output_padding, dilation, groups):
    more = {"output_padding": output_padding, "dilation": dilation, "groups": groups}
    return F.conv3d_transpose(x, weight, bias, stride, padding, **more)


def conv_transpose2d_groups(x, weight, bias=None, *, stride, padding, output_padding, dilation, groups):
    more = {"output_padding": output_padding, "dilation": dilation, "groups": groups}
    return F.conv2d_transpose(x, weight, bias, stride, padding, **more)


def max_pool1d(x, *, kernel, stride, padding):
    return F.max_pool1d(x, kernel, stride, padding)


def max_pool2d(x, *, kernel, stride, padding):
    return F.max_pool2d(x, kernel, stride, padding)


def max_pool3d(x, *, kernel, stride, padding):
    return F.max_pool3d(x, kernel, stride, padding)


def max_pool2d_ceil(x, *, kernel, stride, padding):
    return F.max_pool2d(x, kernel, stride, padding, ceil_mode=True)


def avg_pool1d(x, *, kernel, stride, padding):
    return F.avg_pool1d(x, kernel, stride, padding, exclusive=False)


def avg_pool2d(x, *, kernel, stride, padding):
    return F.avg_pool2d(x, kernel, stride, padding, exclusive=False)


def avg_pool3d(x, *, kernel, stride, padding):
    return F.avg_pool3d(x, kernel, stride, padding, exclusive=False)


def avg_pool2d_exclude(x, *, kernel, stride, padding):
    return F.avg_pool2d(x, kernel, stride, padding)


def avg_pool2d_ceil(x, *, kernel, stride, padding):
    return F.avg_pool2d(x, kernel, stride, padding, ceil_mode=True, exclusive=False)


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


def resize_linear(x, *, size):
    return F.interpolate(x, size, mode="linear", data_format="NCW")


def resize_bilinear(x, *, size):
    return F.interpolate(x, size, mode="bilinear")


def resize_bilinear_corners(x, *, size):
    return F.interpolate(x, size, mode="bilinear", align_corners=True)


def resize_bicubic(x, *, size, corners):
    return F.interpolate(x, size, mode="bicubic", align_corners=corners)


def upsample_nearest(x, *, factor):
    return F.interpolate(x, scale_factor=factor)


def upsample_skip(x, *, factor):
    return paddle.concat([F.interpolate(x, scale_factor=factor).flatten(), x.flatten()])


def pixel_shuffle(x, *, factor):
    return F.pixel_shuffle(x, factor)


def pixel_unshuffle(x, *, factor):
    return F.pixel_unshuffle(x, factor)


def unfold(x, *, kernel, stride, padding, dilation):
    return F.unfold(x, kernel, stride, padding, dilation)


def fold(x, *, size, kernel, stride, padding, dilation):
    return F.fold(x, size, kernel, stride, padding, dilation)


def local_response_norm(x, *, size, alpha, beta, k):
    return F.local_response_norm(x, size, alpha, beta, k)


def local_response_norm_even(x, *, size, alpha, beta, k):
    return F.local_response_norm(x, size, alpha, beta, k)
