from mlx.nn import losses


def mse(x, t, *, reduction):
    return losses.mse_loss(x, t, reduction=reduction)


def l1(x, t, *, reduction):
    return losses.l1_loss(x, t, reduction=reduction)


def huber(x, t, *, delta, reduction):
    return losses.huber_loss(x, t, delta, reduction=reduction)


def smooth_l1(x, t, *, beta, reduction):
    return losses.smooth_l1_loss(x, t, beta, reduction=reduction)


def log_cosh(x, t, *, reduction):
    return losses.log_cosh_loss(x, t, reduction=reduction)


def kl_div_log_target(x, t, *, reduction):
    total = losses.kl_div_loss(x, t, reduction="sum")
    return total / len(x) if reduction == "batchmean" else total


def hinge(x, target, *, reduction):
    return losses.hinge_loss(x, target.astype(x.dtype), reduction=reduction)


def margin_ranking(a, b, target, *, margin, reduction):
    return losses.margin_ranking_loss(a, b, target.astype(a.dtype), margin, reduction=reduction)


def triplet_squared(a, b, c, *, margin, reduction):
    return losses.triplet_loss(a, b, c, margin=margin, reduction=reduction)


def gaussian_nll(x, t, v, *, full, reduction):
    return losses.gaussian_nll_loss(x, t, v, full=full, reduction=reduction)
