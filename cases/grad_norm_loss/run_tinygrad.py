from tinygrad import Tensor, nn


def _normed(layer, x, weight, bias):
    layer.weight, layer.bias = weight, bias
    return layer(x)


def layer_norm(x, weight, bias, *, eps):
    return _normed(nn.LayerNorm(weight.shape, eps), x, weight, bias)


def layer_norm_plain(x, *, eps):
    return x.layernorm(eps=eps)


def layer_norm_two_axes(x, weight, bias, *, eps):
    return _normed(nn.LayerNorm(weight.shape, eps), x, weight, bias)


def rms_norm(x, weight, *, eps):
    layer = nn.RMSNorm(x.shape[-1], eps)
    layer.weight = weight
    return layer(x)


def rms_norm_plain(x, *, eps):
    return nn.RMSNorm(x.shape[-1], eps, elementwise_affine=False)(x)


def group_norm(x, weight, bias, *, groups, eps):
    return _normed(nn.GroupNorm(groups, x.shape[1], eps), x, weight, bias)


def instance_norm(x, weight, bias, *, eps):
    return _normed(nn.InstanceNorm(x.shape[1], eps), x, weight, bias)


def batch_norm_train(x, weight, bias, *, eps):
    return _normed(nn.BatchNorm(x.shape[1], eps, track_running_stats=False), x, weight, bias)


def batch_norm_eval(x, weight, bias, mean8, var8, *, eps):
    return x.batchnorm(weight, bias, mean8.cast(x.dtype) / 8, (var8.cast(x.dtype) / 8 + eps).rsqrt())


def l2_normalize(x, *, axis, eps):
    return x.normalize(dim=axis, eps=eps)


def cross_entropy(x, ids, *, reduction):
    return x.cross_entropy(ids, reduction)


def cross_entropy_smooth(x, ids, *, reduction, smoothing):
    return x.cross_entropy(ids, reduction, smoothing)


def cross_entropy_ignore(x, ids, *, ignore, reduction):
    return x.sparse_categorical_crossentropy(ids, ignore, reduction=reduction)


def cross_entropy_weight(x, ids, weight8, *, reduction):
    return x.log_softmax(1).nll_loss(ids, weight8.cast(x.dtype) / 8, reduction=reduction)


def cross_entropy_soft(x, target, *, reduction):
    return x.cross_entropy(target.cast(x.dtype) / 8, reduction)


def cross_entropy_segment(x, ids, *, reduction):
    return x.cross_entropy(ids, reduction)


def perplexity(x, ids):
    return x.cross_entropy(ids).exp()


def nll_loss(x, ids, *, reduction):
    return x.nll_loss(ids, reduction=reduction)


def log_softmax_gather(x, ids):
    return x.log_softmax(1).gather(1, ids.unsqueeze(1)).squeeze(1)


def bce(x, target, *, reduction):
    return x.binary_crossentropy(target.cast(x.dtype) / 8, reduction)


def bce_with_logits(x, target, *, reduction):
    return x.binary_crossentropy_logits(target.cast(x.dtype) / 8, reduction)


def bce_pos_weight(x, target, *, reduction, positive):
    weight = Tensor([positive], dtype=x.dtype)
    return x.binary_crossentropy_logits(target.cast(x.dtype) / 8, reduction, weight)


def embedding_sum(x, ids):
    layer = nn.Embedding(*x.shape)
    layer.weight = x
    return layer(ids).sum(1)
