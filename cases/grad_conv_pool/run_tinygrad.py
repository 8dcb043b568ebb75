def conv1d(x, weight, bias=None, *, stride, padding, dilation, groups):
    return x.conv2d(weight, bias, groups, stride, dilation, padding)


def conv2d(x, weight, bias=None, *, stride, padding, dilation, groups):
    return x.conv2d(weight, bias, groups, stride, dilation, padding)


def conv3d(x, weight, bias=None, *, stride, padding, dilation, groups):
    return x.conv2d(weight, bias, groups, stride, dilation, padding)


def conv1x1(x, weight, bias=None, *, stride, padding, dilation, groups):
    return x.conv2d(weight, bias, groups, stride, dilation, padding)


def conv2d_groups(x, weight, bias=None, *, stride, padding, dilation, groups):
    return x.conv2d(weight, bias, groups, stride, dilation, padding)


def depthwise_conv1d(x, weight, bias=None, *, stride, padding, dilation, groups):
    return x.conv2d(weight, bias, groups, stride, dilation, padding)


def depthwise_conv2d(x, weight, bias=None, *, stride, padding, dilation, groups):
    return x.conv2d(weight, bias, groups, stride, dilation, padding)


def conv_transpose1d(x, weight, bias=None, *, stride, padding, output_padding, dilation, groups):
    return x.conv_transpose2d(weight, bias, groups, stride, dilation, padding, output_padding)


def conv_transpose2d(x, weight, bias=None, *, stride, padding, output_padding, dilation, groups):
    return x.conv_transpose2d(weight, bias, groups, stride, dilation, padding, output_padding)


def conv_transpose3d(x, weight, bias=None, *, stride, padding, output_padding, dilation, groups):
    return x.conv_transpose2d(weight, bias, groups, stride, dilation, padding, output_padding)


def conv_transpose2d_groups(x, weight, bias=None, *, stride, padding, output_padding, dilation, groups):
    return x.conv_transpose2d(weight, bias, groups, stride, dilation, padding, output_padding)


def max_pool1d(x, *, kernel, stride, padding):
    return x.max_pool2d(tuple(kernel), tuple(stride), padding=tuple(padding))


def max_pool2d(x, *, kernel, stride, padding):
    return x.max_pool2d(tuple(kernel), tuple(stride), padding=tuple(padding))


def max_pool3d(x, *, kernel, stride, padding):
    return x.max_pool2d(tuple(kernel), tuple(stride), padding=tuple(padding))


def max_pool2d_dilated(x, *, kernel, stride, padding, dilation):
    return x.max_pool2d(tuple(kernel), tuple(stride), tuple(dilation), tuple(padding))


def max_pool2d_ceil(x, *, kernel, stride, padding):
    return x.max_pool2d(tuple(kernel), tuple(stride), padding=tuple(padding), ceil_mode=True)


def avg_pool1d(x, *, kernel, stride, padding):
    return x.avg_pool2d(tuple(kernel), tuple(stride), padding=tuple(padding))


def avg_pool2d(x, *, kernel, stride, padding):
    return x.avg_pool2d(tuple(kernel), tuple(stride), padding=tuple(padding))


def avg_pool3d(x, *, kernel, stride, padding):
    return x.avg_pool2d(tuple(kernel), tuple(stride), padding=tuple(padding))


def avg_pool2d_exclude(x, *, kernel, stride, padding):
    return x.avg_pool2d(tuple(kernel), tuple(stride), padding=tuple(padding), count_include_pad=False)


def avg_pool2d_ceil(x, *, kernel, stride, padding):
    return x.avg_pool2d(tuple(kernel), tuple(stride), padding=tuple(padding), ceil_mode=True)


def global_avg_pool(x):
    return x.mean((2, 3))


def global_max_pool(x):
    return x.max((2, 3))


def resize_nearest(x, *, size):
    return x.interpolate(tuple(size), mode="nearest")


def resize_nearest_exact(x, *, size):
    return x.interpolate(tuple(size), mode="nearest-exact")


def resize_linear(x, *, size):
    return x.interpolate(tuple(size), mode="linear")


def resize_bilinear(x, *, size):
    return x.interpolate(tuple(size), mode="linear")


def resize_bilinear_corners(x, *, size):
    return x.interpolate(tuple(size), mode="linear", align_corners=True)


def upsample_nearest(x, *, factor):
    return x.interpolate((x.shape[2] * factor, x.shape[3] * factor), mode="nearest")


def upsample_skip(x, *, factor):
    return upsample_nearest(x, factor=factor).flatten().cat(x.flatten())
