import paddle.nn.functional as F


def mse(x, t, *, reduction):
    return F.mse_loss(x, t, reduction)


def l1(x, t, *, reduction):
    return F.l1_loss(x, t, reduction)


def huber(x, t, *, delta, reduction):
    return F.smooth_l1_loss(x, t, reduction, delta)


def smooth_l1(x, t, *, beta, reduction):
    return F.smooth_l1_loss(x, t, reduction, beta, is_huber=False)


def kl_div(x, t, *, reduction):
    return F.kl_div(x, t, reduction)


def kl_div_elements(x, t, *, reduction):
    return F.kl_div(x, t, reduction)


def kl_div_log_target(x, t, *, reduction):
    return F.kl_div(x, t, reduction, log_target=True)


def hinge_embedding(x, target, *, margin, reduction):
    return F.hinge_embedding_loss(x, target.astype(x.dtype), margin, reduction)


def soft_margin(x, target, *, reduction):
    return F.soft_margin_loss(x, target.astype(x.dtype), reduction)


def margin_ranking(a, b, target, *, margin, reduction):
    return F.margin_ranking_loss(a, b, target.astype(a.dtype), margin, reduction)


def cosine_embedding(a, b, target, *, margin, reduction):
    return F.cosine_embedding_loss(a, b, target, margin, reduction)


def triplet(a, b, c, *, margin, reduction):
    return F.triplet_margin_loss(a, b, c, margin, reduction=reduction)


def multi_margin(x, ids, *, power, margin, reduction):
    return F.multi_margin_loss(x, ids.astype("int64"), power, margin, reduction=reduction)


def poisson_nll(x, target, *, full, reduction):
    return F.poisson_nll_loss(x, target.astype(x.dtype), log_input=False, full=full, reduction=reduction)


def poisson_nll_log(x, target, *, full, reduction):
    return F.poisson_nll_loss(x, target.astype(x.dtype), full=full, reduction=reduction)


def gaussian_nll(x, t, v, *, full, reduction):
    return F.gaussian_nll_loss(x, t, v, full, reduction=reduction)


def sigmoid_focal(x, target, *, alpha, gamma, reduction):
    return F.sigmoid_focal_loss(x, target.astype(x.dtype), alpha=alpha, gamma=gamma, reduction=reduction)
