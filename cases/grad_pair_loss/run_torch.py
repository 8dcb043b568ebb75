import torch.nn.functional as F


def mse(x, t, *, reduction):
    return F.mse_loss(x, t, reduction=reduction)


def l1(x, t, *, reduction):
    return F.l1_loss(x, t, reduction=reduction)


def huber(x, t, *, delta, reduction):
    return F.huber_loss(x, t, reduction=reduction, delta=delta)


def smooth_l1(x, t, *, beta, reduction):
    return F.smooth_l1_loss(x, t, reduction=reduction, beta=beta)


def kl_div(x, t, *, reduction):
    return F.kl_div(x, t, reduction=reduction)


def kl_div_elements(x, t, *, reduction):
    return F.kl_div(x, t, reduction=reduction)


def kl_div_log_target(x, t, *, reduction):
    return F.kl_div(x, t, reduction=reduction, log_target=True)


def hinge_embedding(x, target, *, margin, reduction):
    return F.hinge_embedding_loss(x, target, margin, reduction=reduction)


def soft_margin(x, target, *, reduction):
    return F.soft_margin_loss(x, target.to(x.dtype), reduction=reduction)


def margin_ranking(a, b, target, *, margin, reduction):
    return F.margin_ranking_loss(a, b, target, margin, reduction=reduction)


def cosine_embedding(a, b, target, *, margin, reduction):
    return F.cosine_embedding_loss(a, b, target, margin, reduction=reduction)


def triplet(a, b, c, *, margin, reduction):
    return F.triplet_margin_loss(a, b, c, margin, reduction=reduction)


def multi_margin(x, ids, *, power, margin, reduction):
    return F.multi_margin_loss(x, ids.long(), power, margin, reduction=reduction)


def poisson_nll(x, target, *, full, reduction):
    return F.poisson_nll_loss(x, target.to(x.dtype), log_input=False, full=full, reduction=reduction)


def poisson_nll_log(x, target, *, full, reduction):
    return F.poisson_nll_loss(x, target.to(x.dtype), full=full, reduction=reduction)


def gaussian_nll(x, t, v, *, full, reduction):
    return F.gaussian_nll_loss(x, t, v, full=full, reduction=reduction)
