import mlx.core as mx
from mlx import nn


def _last(x):
    return mx.moveaxis(x, 1, -1)


def _normed(layer, x, weight, bias):
    layer.weight, layer.bias = weight, bias
    return mx.moveaxis(layer(_last(x)), -1, 1)


def layer_norm(x, weight, bias, *, eps):
    return mx.fast.layer_norm(x, weight, bias, eps)


def layer_norm_plain(x, *, eps):
    return mx.fast.layer_norm(x, None, None, eps)


def rms_norm(x, weight, *, eps):
    return mx.fast.rms_norm(x, weight, eps)


def rms_norm_plain(x, *, eps):
    return mx.fast.rms_norm(x, None, eps)


def group_norm(x, weight, bias, *, groups, eps):
    return _normed(nn.GroupNorm(groups, x.shape[1], eps, pytorch_compatible=True), x, weight, bias)


def instance_norm(x, weight, bias, *, eps):
    return _normed(nn.InstanceNorm(x.shape[1], eps, affine=True), x, weight, bias)


def batch_norm_train(x, weight, bias, *, eps):
    return _normed(nn.BatchNorm(x.shape[1], eps), x, weight, bias)


def batch_norm_eval(x, weight, bias, mean8, var8, *, eps):
    layer = nn.BatchNorm(x.shape[1], eps).eval()
    layer.running_mean, layer.running_var = mean8.astype(x.dtype) / 8, var8.astype(x.dtype) / 8
    return _normed(layer, x, weight, bias)


def cosine_similarity(a, b, *, axis):
    return nn.losses.cosine_similarity_loss(a, b, axis=axis)


def cross_entropy(x, ids, *, reduction):
    return nn.losses.cross_entropy(x, ids, reduction=reduction)


def cross_entropy_smooth(x, ids, *, reduction, smoothing):
    return nn.losses.cross_entropy(x, ids, label_smoothing=smoothing, reduction=reduction)


def cross_entropy_soft(x, target, *, reduction):
    return nn.losses.cross_entropy(x, target.astype(x.dtype) / 8, reduction=reduction)


def cross_entropy_segment(x, ids, *, reduction):
    return nn.losses.cross_entropy(x, ids, axis=1, reduction=reduction)


def perplexity(x, ids):
    return mx.exp(nn.losses.cross_entropy(x, ids, reduction="mean"))


def nll_loss(x, ids, *, reduction):
    return nn.losses.nll_loss(x, ids, reduction=reduction)


def log_softmax_gather(x, ids):
    return mx.take_along_axis(nn.log_softmax(x), ids[:, None], axis=1)[:, 0]


def bce(x, target, *, reduction):
    return nn.losses.binary_cross_entropy(x, target.astype(x.dtype) / 8, with_logits=False, reduction=reduction)


def bce_with_logits(x, target, *, reduction):
    return nn.losses.binary_cross_entropy(x, target.astype(x.dtype) / 8, reduction=reduction)


def embedding_sum(x, ids):
    layer = nn.Embedding(*x.shape)
    layer.weight = x
    return layer(ids).sum(axis=1)
