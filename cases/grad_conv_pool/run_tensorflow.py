import keras
import numpy as np
import tensorflow as tf


def _last(x):
    return tf.transpose(x, (0, *range(2, x.ndim), 1))


def _first(x):
    return tf.transpose(x, (0, x.ndim - 1, *range(1, x.ndim - 1)))


def _kernel(weight):
    return tf.transpose(weight, (*range(2, weight.ndim), 1, 0))  # [to, from, ...] -> [..., from, to]


def _pads(padding):
    return [(0, 0), *((p, p) for p in padding), (0, 0)]


def _padded(x, padding, value=0.0):
    return tf.pad(_last(x), _pads(padding), constant_values=tf.constant(value, x.dtype))


def _biased(y, bias):
    return _first(y if bias is None else tf.nn.bias_add(y, bias))


def _conv_transpose(function, x, weight, bias, stride, padding, output_padding, dilation):
    sizes = zip(x.shape[2:], weight.shape[2:], stride, dilation, output_padding, strict=True)
    full = [(n - 1) * s + (k - 1) * d + 1 + extra for n, k, s, d, extra in sizes]
    y = function(_last(x), _kernel(weight), (x.shape[0], *full, weight.shape[1]), stride, "VALID", dilations=dilation)
    y = y[(slice(None), *(slice(p, n - p) for p, n in zip(padding, full, strict=True)))]
    return _first(y if bias is None else tf.nn.bias_add(y, bias))


def _narrowed(y, x):
    """A resized image is float32 whatever it was made of: back to a narrower type, as a model would; float64 it has not."""
    return tf.cast(y, x.dtype) if x.dtype.size < y.dtype.size else y


def conv1d(x, weight, bias=None, *, stride, padding, dilation, **_):
    y = tf.nn.conv1d(_padded(x, padding), _kernel(weight), stride, "VALID", dilations=dilation)
    return _biased(y, bias)


def conv2d(x, weight, bias=None, *, stride, padding, dilation, **_):
    y = tf.nn.conv2d(_last(x), _kernel(weight), stride, _pads(padding), dilations=dilation)
    return _biased(y, bias)


def conv3d(x, weight, bias=None, *, stride, padding, dilation, **_):
    y = tf.nn.conv3d(_padded(x, padding), _kernel(weight), (1, *stride, 1), "VALID", dilations=(1, *dilation, 1))
    return _biased(y, bias)


def conv1x1(x, weight, bias=None, *, stride, padding, dilation, **_):
    y = tf.nn.conv2d(_last(x), _kernel(weight), stride, _pads(padding), dilations=dilation)
    return _biased(y, bias)


def conv2d_groups(x, weight, bias=None, *, stride, padding, dilation, **_):
    y = tf.nn.conv2d(_last(x), _kernel(weight), stride, _pads(padding), dilations=dilation)
    return _biased(y, bias)


def depthwise_conv1d(x, weight, bias=None, *, stride, padding, dilation, **_):
    y = tf.nn.conv1d(_padded(x, padding), _kernel(weight), stride, "VALID", dilations=dilation)
    return _biased(y, bias)


def depthwise_conv2d(x, weight, bias=None, *, stride, padding, dilation, groups):
    kernel = tf.reshape(tf.transpose(weight, (2, 3, 0, 1)), (*weight.shape[2:], groups, -1))
    y = tf.nn.depthwise_conv2d(_last(x), kernel, (1, *stride, 1), _pads(padding), dilations=dilation)
    return _biased(y, bias)


def conv2d_same(x, weight, *, dilation):
    return _first(tf.nn.conv2d(_last(x), _kernel(weight), 1, "SAME", dilations=dilation))


def conv_transpose1d(x, weight, bias=None, *, stride, padding, output_padding, dilation, **_):
    return _conv_transpose(tf.nn.conv1d_transpose, x, weight, bias, stride, padding, output_padding, dilation)


def conv_transpose2d(x, weight, bias=None, *, stride, padding, output_padding, dilation, **_):
    return _conv_transpose(tf.nn.conv2d_transpose, x, weight, bias, stride, padding, output_padding, dilation)


def conv_transpose3d(x, weight, bias=None, *, stride, padding, output_padding, dilation, **_):
    return _conv_transpose(tf.nn.conv3d_transpose, x, weight, bias, stride, padding, output_padding, dilation)


def max_pool1d(x, *, kernel, stride, padding):
    return _first(tf.nn.max_pool1d(_padded(x, padding, -np.inf), kernel, stride, "VALID"))


def max_pool2d(x, *, kernel, stride, padding):
    return _first(tf.nn.max_pool2d(_last(x), kernel, stride, _pads(padding)))


def max_pool3d(x, *, kernel, stride, padding):
    return _first(tf.nn.max_pool3d(_padded(x, padding, -np.inf), kernel, stride, "VALID"))


def avg_pool1d(x, *, kernel, stride, padding):
    return _first(tf.nn.avg_pool1d(_padded(x, padding), kernel, stride, "VALID"))


def avg_pool2d(x, *, kernel, stride, padding):
    return _first(tf.nn.avg_pool2d(_padded(x, padding), kernel, stride, "VALID"))


def avg_pool3d(x, *, kernel, stride, padding):
    return _first(tf.nn.avg_pool3d(_padded(x, padding), kernel, stride, "VALID"))


def adaptive_avg_pool1d(x, *, size):
    return keras.ops.adaptive_average_pool(x, size, data_format="channels_first")


def adaptive_avg_pool2d(x, *, size):
    return keras.ops.adaptive_average_pool(x, size, data_format="channels_first")


def adaptive_max_pool2d(x, *, size):
    return keras.ops.adaptive_max_pool(x, size, data_format="channels_first")


def global_avg_pool(x):
    return keras.layers.GlobalAveragePooling2D(dtype=x.dtype)(_last(x))


def global_max_pool(x):
    return keras.layers.GlobalMaxPooling2D(dtype=x.dtype)(_last(x))


def resize_nearest(x, *, size):
    return _first(tf.compat.v1.image.resize_nearest_neighbor(_last(x), size))


def resize_nearest_exact(x, *, size):
    return _first(tf.image.resize(_last(x), size, "nearest"))


def resize_bilinear(x, *, size):
    return _narrowed(_first(tf.image.resize(_last(x), size)), x)


def resize_bilinear_corners(x, *, size):
    return _narrowed(_first(tf.compat.v1.image.resize_bilinear(_last(x), size, align_corners=True)), x)


def upsample_nearest(x, *, factor):
    return _first(keras.layers.UpSampling2D(factor, dtype=x.dtype)(_last(x)))


def upsample_skip(x, *, factor):
    return tf.concat([tf.reshape(upsample_nearest(x, factor=factor), [-1]), tf.reshape(x, [-1])], 0)


def unfold(x, *, kernel, stride, padding, dilation):
    return keras.ops.unfold(x, tuple(kernel), tuple(dilation), tuple(padding), tuple(stride))


def fold(x, *, size, kernel, stride, padding, dilation):
    return keras.ops.nn.fold(x, tuple(size), tuple(kernel), tuple(dilation), tuple(padding), tuple(stride))


def local_response_norm(x, *, size, alpha, beta, k):
    return _first(tf.nn.local_response_normalization(_last(x), size // 2, k, alpha / size, beta))
