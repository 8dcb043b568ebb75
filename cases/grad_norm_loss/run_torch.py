import torch
import torch.nn.functional as F


def layer_norm(x, weight, bias, *, eps):
    return F.layer_norm(x, weight.shape, weight, bias, eps)


def layer_norm_plain(x, *, eps):
    return F.layer_norm(x, x.shape[-1:], eps=eps)


def layer_norm_two_axes(x, weight, bias, *, eps):
    return F.layer_norm(x, weight.shape, weight, bias, eps)


def rms_norm(x, weight, *, eps):
    return F.rms_norm(x, weight.shape, weight, eps)


def rms_norm_plain(x, *, eps):
    return F.rms_norm(x, x.shape[-1:], eps=eps)


def group_norm(x, weight, bias, *, groups, eps):
    return F.group_norm(x, groups, weight, bias, eps)


def instance_norm(x, weight, bias, *, eps):
    return F.instance_norm(x, weight=weight, bias=bias, eps=eps)


def batch_norm_train(x, weight, bias, *, eps):
    return F.batch_norm(x, None, None, weight, bias, training=True, eps=eps)


def batch_norm_eval(x, weight, bias, mean8, var8, *, eps):
    return F.batch_norm(x, mean8.to(x.dtype) / 8, var8.to(x.dtype) / 8, weight, bias, eps=eps)


def l2_normalize(x, *, axis, eps):
    return F.normalize(x, dim=axis, eps=eps)


def cosine_similarity(a, b, *, axis):
    return F.cosine_similarity(a, b, dim=axis)


def cross_entropy(x, ids, *, reduction):
    return F.cross_entropy(x, ids.long(), reduction=reduction)


def cross_entropy_smooth(x, ids, *, reduction, smoothing):
    return F.cross_entropy(x, ids.long(), reduction=reduction, label_smoothing=smoothing)


def cross_entropy_ignore(x, ids, *, ignore, reduction):
    return F.cross_entropy(x, ids.long(), ignore_index=ignore, reduction=reduction)


def cross_entropy_weight(x, ids, weight8, *, reduction):
    return F.cross_entropy(x, ids.long(), weight8.to(x.dtype) / 8, reduction=reduction)


def cross_entropy_soft(x, target, *, reduction):
    return F.cross_entropy(x, target.to(x.dtype) / 8, reduction=reduction)


def cross_entropy_segment(x, ids, *, reduction):
    return F.cross_entropy(x, ids.long(), reduction=reduction)


def perplexity(x, ids):
    return F.cross_entropy(x, ids.long()).exp()


def nll_loss(x, ids, *, reduction):
    return F.nll_loss(x, ids.long(), reduction=reduction)


def log_softmax_gather(x, ids):
    return F.log_softmax(x, dim=1).gather(1, ids.long()[:, None])[:, 0]


def bce(x, target, *, reduction):
    return F.binary_cross_entropy(x, target.to(x.dtype) / 8, reduction=reduction)


def bce_with_logits(x, target, *, reduction):
    return F.binary_cross_entropy_with_logits(x, target.to(x.dtype) / 8, reduction=reduction)


def bce_pos_weight(x, target, *, reduction, positive):
    weight = torch.tensor(positive, dtype=x.dtype)
    return F.binary_cross_entropy_with_logits(x, target.to(x.dtype) / 8, reduction=reduction, pos_weight=weight)


def embedding_sum(x, ids):
    return F.embedding(ids, x).sum(1)
