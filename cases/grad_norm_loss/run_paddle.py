import paddle
import paddle.nn.functional as F


def _soft(losses):
    """A loss of soft labels keeps the axis of the classes, as documented."""
    return losses.squeeze(1) if losses.ndim == 2 else losses


def layer_norm(x, weight, bias, *, eps):
    return F.layer_norm(x, weight.shape, weight.flatten(), bias.flatten(), eps)


def layer_norm_plain(x, *, eps):
    return F.layer_norm(x, x.shape[-1:], epsilon=eps)


def layer_norm_two_axes(x, weight, bias, *, eps):
    return F.layer_norm(x, weight.shape, weight.flatten(), bias.flatten(), eps)


def group_norm(x, weight, bias, *, groups, eps):
    return F.group_norm(x, groups, eps, weight, bias)


def instance_norm(x, weight, bias, *, eps):
    return F.instance_norm(x, weight=weight, bias=bias, eps=eps)


def batch_norm_train(x, weight, bias, *, eps):
    mean, var = paddle.zeros_like(weight).detach(), paddle.ones_like(weight).detach()
    return F.batch_norm(x, mean, var, weight, bias, training=True, epsilon=eps)


def batch_norm_eval(x, weight, bias, mean8, var8, *, eps):
    mean, var = mean8.astype(x.dtype) / 8, var8.astype(x.dtype) / 8
    return F.batch_norm(x, mean, var, weight, bias, epsilon=eps)


def l2_normalize(x, *, axis, eps):
    return F.normalize(x, axis=axis, epsilon=eps)


def cosine_similarity(a, b, *, axis):
    return F.cosine_similarity(a, b, axis=axis)


def cross_entropy(x, ids, *, reduction):
    return F.cross_entropy(x, ids, reduction=reduction)


def cross_entropy_smooth(x, ids, *, reduction, smoothing):
    return _soft(F.cross_entropy(x, ids, reduction=reduction, label_smoothing=smoothing))


def cross_entropy_ignore(x, ids, *, ignore, reduction):
    return F.cross_entropy(x, ids, ignore_index=ignore, reduction=reduction)


def cross_entropy_weight(x, ids, weight8, *, reduction):
    return F.cross_entropy(x, ids, weight8.astype(x.dtype) / 8, reduction=reduction)


def cross_entropy_soft(x, target, *, reduction):
    return _soft(F.cross_entropy(x, target.astype(x.dtype) / 8, reduction=reduction, soft_label=True))


def cross_entropy_segment(x, ids, *, reduction):
    return F.cross_entropy(x, ids, reduction=reduction, axis=1)


def perplexity(x, ids):
    return F.cross_entropy(x, ids).exp()


def nll_loss(x, ids, *, reduction):
    return F.nll_loss(x, ids.astype("int64"), reduction=reduction)


def log_softmax_gather(x, ids):
    return paddle.take_along_axis(F.log_softmax(x), ids[:, None], 1)[:, 0]


def bce(x, target, *, reduction):
    return F.binary_cross_entropy(x, target.astype(x.dtype) / 8, reduction=reduction)


def bce_with_logits(x, target, *, reduction):
    return F.binary_cross_entropy_with_logits(x, target.astype(x.dtype) / 8, reduction=reduction)


def bce_pos_weight(x, target, *, reduction, positive):
    weight = paddle.to_tensor([positive], dtype=x.dtype)
    return F.binary_cross_entropy_with_logits(x, target.astype(x.dtype) / 8, reduction=reduction, pos_weight=weight)


def embedding_sum(x, ids):
    return F.embedding(ids, x).sum(1)
