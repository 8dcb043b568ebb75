"""Losses of two tensors or three, number by number or row by row, with their reductions; a target is whole numbers where it has no gradient."""

import numpy as np

from harness.sweep.losses import REDUCTIONS, classified, compared, count, share, targeted
from harness.sweep.op import Op, Sweep


def _reduced(values, reduction):
    if reduction == "batchmean":
        return values.sum() / len(values)
    return values if reduction == "none" else {"mean": np.mean, "sum": np.sum}[reduction](values)


def mse(x, t, *, reduction):
    return _reduced((x - t) ** 2, reduction)


def l1(x, t, *, reduction):
    return _reduced(np.abs(x - t), reduction)


def huber(x, t, *, delta, reduction):
    far = np.abs(x - t)
    return _reduced(np.where(far <= delta, far**2 / 2, delta * (far - delta / 2)), reduction)


def smooth_l1(x, t, *, beta, reduction):
    return huber(x, t, delta=beta, reduction=reduction) / beta


def log_cosh(x, t, *, reduction):
    return _reduced(np.logaddexp(x - t, t - x) - np.log(2), reduction)


def _log_cosh_flow(asked, upstream):
    """Log 2 of the exponentials' sum; 1 minus twice a sigmoid."""
    x, t = asked.tensors["x"], asked.tensors["t"]
    g = share(asked, upstream, x.size)
    return {"x": g, "t": g, "y": _reduced(np.abs(x - t) + np.log(2), asked.attributes["reduction"])}


def kl_div(x, t, *, reduction):
    return _reduced(t * (np.log(t) - x), reduction)


def kl_div_log_target(x, t, *, reduction):
    return _reduced(np.exp(t) * (t - x), reduction)


def _kl_flow(asked, upstream):
    """Of log t + 1 - x, by t; of both logarithms, in the loss."""
    x, t = asked.tensors["x"], asked.tensors["t"]
    size = np.abs(np.log(t)) + np.abs(x)
    return {"t": share(asked, upstream, x.size) * (size + 1), "y": _reduced(t * size, asked.attributes["reduction"])}


def _kl_log_flow(asked, upstream):
    x, t = asked.tensors["x"], asked.tensors["t"]
    size = np.exp(t) * (np.abs(t) + np.abs(x))
    return {"t": share(asked, upstream, x.size) * (size + np.exp(t)), "y": _reduced(size, asked.attributes["reduction"])}


def hinge(x, target, *, reduction):
    return _reduced(np.maximum(0, 1 - x * target), reduction)


def hinge_embedding(x, target, *, margin, reduction):
    return _reduced(np.where(target > 0, x, np.maximum(0, margin - x)), reduction)


def soft_margin(x, target, *, reduction):
    return _reduced(np.logaddexp(0, -x * target), reduction)


def margin_ranking(a, b, target, *, margin, reduction):
    return _reduced(np.maximum(0, margin - target * (a - b)), reduction)


def _cosine(a, b):
    return (a * b).sum(1) / np.sqrt((a * a).sum(1) * (b * b).sum(1))


def cosine_embedding(a, b, target, *, margin, reduction):
    cosine = _cosine(a, b)
    return _reduced(np.where(target > 0, 1 - cosine, np.maximum(0, cosine - margin)), reduction)


def _cosine_flow(asked, upstream):
    """A direction minus its part along the other, each of at most the length 1; in the loss, 1 or the margin minus a cosine."""
    g = np.expand_dims(share(asked, upstream, len(asked.tensors["a"])) * np.ones(len(asked.tensors["a"])), 1)
    flow = {name: 2 * g / np.sqrt((x * x).sum(1, keepdims=True)) for name, x in asked.tensors.items() if name in "ab"}
    return {**flow, "y": _reduced(np.full(len(g), 2.0), asked.attributes["reduction"])}


def triplet(a, b, c, *, margin, reduction):
    near, far = (np.sqrt(((a - other + 1e-6) ** 2).sum(-1)) for other in (b, c))
    return _reduced(np.maximum(0, margin + near - far), reduction)


def triplet_squared(a, b, c, *, margin, reduction):
    near, far = (np.sqrt(((a - other) ** 2).sum(-1) + 1e-6) for other in (b, c))
    return _reduced(np.maximum(0, margin + near - far), reduction)


def _triplet_flow(asked, upstream):
    """Two directions of the length 1, of which the anchor's gradient is the difference."""
    return {"a": 2 * np.max(share(asked, upstream, asked.tensors["a"][..., 0].size), initial=0)}


def multi_margin(x, ids, *, power, margin, reduction):
    losses = np.maximum(0, margin - np.take_along_axis(x, ids[:, None], 1) + x) ** power
    losses[np.arange(len(ids)), ids] = 0
    return _reduced(losses.mean(1), reduction)


def _stirling(target):
    t = np.maximum(target, 2)
    return np.where(target > 1, t * np.log(t) - t + np.log(2 * np.pi * t) / 2, 0.0)


def poisson_nll(x, target, *, full, reduction):
    return _reduced(x - target * np.log(x + 1e-8) + full * _stirling(target), reduction)


def _poisson_flow(asked, upstream):
    x, target = asked.tensors["x"], asked.tensors["target"]
    size = x + target * np.abs(np.log(x)) + np.abs(_stirling(target)) + 3 * target
    return {"x": share(asked, upstream, x.size) * (1 + target / x), "y": _reduced(size, asked.attributes["reduction"])}


def poisson_nll_log(x, target, *, full, reduction):
    return _reduced(np.exp(x) - target * x + full * _stirling(target), reduction)


def _poisson_log_flow(asked, upstream):
    x, target = asked.tensors["x"], asked.tensors["target"]
    size = np.exp(x) + target * np.abs(x) + np.abs(_stirling(target)) + 3 * target  # t log t - t: each less than 3 t
    return {"x": share(asked, upstream, x.size) * (np.exp(x) + target), "y": _reduced(size, asked.attributes["reduction"])}


def gaussian_nll(x, t, v, *, full, reduction):
    return _reduced((np.log(v) + (x - t) ** 2 / v) / 2 + full * np.log(2 * np.pi) / 2, reduction)


def _gaussian_flow(asked, upstream):
    x, t, v = (asked.tensors[name] for name in "xtv")
    square = (x - t) ** 2 / v
    size = np.abs(np.log(v)) / 2 + square / 2 + 1
    return {"v": share(asked, upstream, x.size) * (1 + square) / v, "y": _reduced(size, asked.attributes["reduction"])}


def sigmoid_focal(x, target, *, alpha, gamma, reduction):
    missed, loss = _focal(x, target)
    return _reduced(np.where(target > 0, alpha, 1 - alpha) * missed**gamma * loss, reduction)


def _focal(x, target):
    """1 minus the probability of the target, and the logarithm of that probability."""
    toward = np.where(target > 0, x, -x)
    return 1 / (1 + np.exp(toward)), np.logaddexp(0, -toward)


def _focal_flow(asked, upstream):
    """1 minus a probability is off by an absolute rounding: so is its power, by the power's slope, and so are the loss and its gradient."""
    (missed, loss), gamma = _focal(asked.tensors["x"], asked.tensors["target"]), asked.attributes["gamma"]
    size = (gamma + 1) ** 2 * missed ** (gamma - 1) * (loss + 1)
    return {"x": share(asked, upstream, size.size) * size, "y": _reduced(size, asked.attributes["reduction"])}


CASE = Sweep(
    claim="Each loss of two tensors has the value and the gradients of its definition, at kinks a subgradient, with each of its reductions.",
    failure="wrong-gradient",
    items={
        "mse": Op(forward=mse, takes=compared("xt", reduction=REDUCTIONS), terms=count),
        "l1": Op(forward=l1, takes=compared("xt", reduction=REDUCTIONS), terms=count),
        "huber": Op(forward=huber, takes=compared("xt", delta=(1.0, 0.5, 2.0), reduction=REDUCTIONS), terms=count, roundings=6),
        "smooth_l1": Op(forward=smooth_l1, takes=compared("xt", beta=(1.0, 0.5, 2.0), reduction=REDUCTIONS), terms=count, roundings=6),
        "log_cosh": Op(forward=log_cosh, takes=compared("xt", reduction=REDUCTIONS), terms=count, roundings=7, cancels=_log_cosh_flow),
        "kl_div": Op(
            forward=kl_div,
            takes=compared("xt", last="positive", low=2, reduction=("batchmean", "sum")),
            terms=count,
            roundings=6,
            cancels=_kl_flow,
        ),
        "kl_div_elements": Op(
            forward=kl_div, takes=compared("xt", last="positive", reduction=("none", "mean")), terms=count, roundings=6, cancels=_kl_flow
        ),
        "kl_div_log_target": Op(
            forward=kl_div_log_target,
            takes=compared("xt", low=2, reduction=("batchmean", "sum")),
            terms=count,
            roundings=6,
            cancels=_kl_log_flow,
            explained={"y stopped at 256": "2200 terms, each rounded six times in bfloat16: these errors may add up to as much"},
        ),
        "hinge": Op(forward=hinge, takes=targeted(-1, 2, reduction=REDUCTIONS), terms=count),
        "hinge_embedding": Op(forward=hinge_embedding, takes=targeted(-1, 2, margin=(1.0, 0.5), reduction=REDUCTIONS), terms=count),
        "soft_margin": Op(forward=soft_margin, takes=targeted(-1, 2, reduction=REDUCTIONS), terms=count, roundings=6),
        "margin_ranking": Op(
            forward=margin_ranking, takes=targeted(-1, 2, names="ab", margin=(0.0, 0.5), reduction=REDUCTIONS), terms=count
        ),
        "cosine_embedding": Op(
            forward=cosine_embedding,
            dtypes=("float32", "bfloat16", "float16"),  # float64 shows only the 1e-12 or 1e-11 that frameworks add to a squared length
            takes=targeted(-1, 2, names="ab", styles=("grid", "normal"), rows=True, margin=(0.0, 0.5), reduction=REDUCTIONS),
            terms=count,
            roundings=10,
            cancels=_cosine_flow,
        ),
        "triplet": Op(
            forward=triplet,
            takes=compared("abc", low=2, margin=(1.0, 0.5), reduction=REDUCTIONS),
            terms=count,
            roundings=8,
            cancels=_triplet_flow,
        ),
        "triplet_squared": Op(
            forward=triplet_squared,
            takes=compared("abc", low=2, margin=(1.0, 0.5), reduction=REDUCTIONS),
            terms=count,
            roundings=8,
            cancels=_triplet_flow,
        ),
        "multi_margin": Op(
            forward=multi_margin,
            takes=classified(outside=False, power=(1, 2), margin=(1.0, 0.5), reduction=REDUCTIONS),
            terms=count,
            roundings=6,
        ),
        "poisson_nll": Op(
            forward=poisson_nll,
            takes=targeted(0, 6, styles=("positive",), full=(False, True), reduction=REDUCTIONS),
            terms=count,
            roundings=8,
            cancels=_poisson_flow,
        ),
        "poisson_nll_log": Op(
            forward=poisson_nll_log,
            takes=targeted(0, 6, styles=("grid", "normal"), full=(False, True), reduction=REDUCTIONS),
            terms=count,
            roundings=8,
            cancels=_poisson_log_flow,
        ),
        "gaussian_nll": Op(
            forward=gaussian_nll,
            takes=compared("xtv", last="positive", full=(False, True), reduction=REDUCTIONS),
            terms=count,
            roundings=8,
            cancels=_gaussian_flow,
        ),
        "sigmoid_focal": Op(
            forward=sigmoid_focal,
            takes=targeted(0, 2, styles=("grid", "normal"), alpha=(0.25, 0.5), gamma=(2.0, 1.0, 3.0), reduction=REDUCTIONS),
            terms=count,
            roundings=10,
            cancels=_focal_flow,
            explained={"y stopped at 256": "2200 terms, each rounded ten times in bfloat16: these errors may add up to as much"},
        ),
    },
)
