import optax


def _reduced(values, reduction):
    return {"mean": values.mean, "sum": values.sum, "none": lambda: values}[reduction]()


def mse(x, t, *, reduction):
    return _reduced(optax.squared_error(x, t), reduction)


def huber(x, t, *, delta, reduction):
    return _reduced(optax.huber_loss(x, t, delta=delta), reduction)


def log_cosh(x, t, *, reduction):
    return _reduced(optax.log_cosh(x, t), reduction)


def kl_div(x, t, *, reduction):
    rows = optax.kl_divergence(x, t)
    return rows.sum() / len(x) if reduction == "batchmean" else rows.sum()


def kl_div_log_target(x, t, *, reduction):
    rows = optax.losses.kl_divergence_with_log_targets(x, t)
    return rows.sum() / len(x) if reduction == "batchmean" else rows.sum()


def hinge(x, target, *, reduction):
    return _reduced(optax.hinge_loss(x, target), reduction)


def triplet_squared(a, b, c, *, margin, reduction):
    return _reduced(optax.losses.triplet_margin_loss(a, b, c, margin=margin), reduction)


def sigmoid_focal(x, target, *, alpha, gamma, reduction):
    return _reduced(optax.sigmoid_focal_loss(x, target.astype(x.dtype), alpha=alpha, gamma=gamma), reduction)
