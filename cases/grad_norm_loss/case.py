"""Norms, and the losses that a model is trained by, with all of their options; a target that is no class is in eighths where its name says so."""

import numpy as np

from harness.sweep.losses import (
    EPS,
    REDUCTIONS,
    absent_row,
    beyond,
    channelled,
    classified,
    count,
    looked_up,
    mixed,
    normalized,
    share,
    targeted,
    vectors,
)
from harness.sweep.op import Op, Sweep


def _standard(x, axes, eps):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def _flowing(x, axes, eps, g):
    """Sizes that a norm subtracts: in the forward, the mean from each number; in the backward the gradient, its mean, and its part along the normalized row,
    which is as wrong as the forward. All over the deviation.
    """
    deviation = np.sqrt(x.var(axes, keepdims=True) + eps)
    hat, off = np.abs(_standard(x, axes, eps)), (np.abs(x) + np.abs(x).mean(axes, keepdims=True)) / deviation

    def mean(values):
        return values.mean(axes, keepdims=True)

    return off, (g + mean(g) + hat * mean(g * (hat + off)) + off * mean(g * hat)) / deviation


def layer_norm(x, weight=1.0, bias=0.0, *, eps):
    return _standard(x, tuple(range(-max(np.ndim(weight), 1), 0)), eps) * weight + bias


def _layer_norm_flow(asked, upstream):
    x, weight = asked.tensors["x"], np.abs(asked.tensors.get("weight", np.ones(1)))
    off, flow = _flowing(x, tuple(range(-weight.ndim, 0)), asked.attributes["eps"], upstream * weight)
    return {"y": off * weight, "x": flow, "weight": (upstream * off).sum(tuple(range(x.ndim - weight.ndim)))}


def rms_norm(x, weight=1.0, *, eps):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * weight


def _rms_norm_flow(asked, upstream):
    x, eps = asked.tensors["x"], asked.attributes["eps"]
    hat, g = np.abs(rms_norm(x, eps=eps)), upstream * np.abs(asked.tensors.get("weight", 1.0))
    return {"x": (g + hat * (g * hat).mean(-1, keepdims=True)) / np.sqrt((x * x).mean(-1, keepdims=True) + eps)}


def _a_channel(x, values):
    return values.reshape(-1, *[1] * (x.ndim - 2))


def group_norm(x, weight, bias, *, groups, eps):
    parts = x.reshape(x.shape[0], groups, -1)
    return _standard(parts, -1, eps).reshape(x.shape) * _a_channel(x, weight) + _a_channel(x, bias)


def _a_channels_flow(upstream, weight, off, flow):
    return {"y": off * weight, "x": flow, "weight": (upstream * off).sum((0, *range(2, off.ndim)))}


def _group_norm_flow(asked, upstream):
    x, groups = asked.tensors["x"], asked.attributes.get("groups", asked.tensors["x"].shape[1])
    weight, parts = np.abs(_a_channel(x, asked.tensors["weight"])), x.reshape(x.shape[0], groups, -1)
    off, flow = _flowing(parts, -1, asked.attributes["eps"], (upstream * weight).reshape(parts.shape))
    return _a_channels_flow(upstream, weight, off.reshape(x.shape), flow.reshape(x.shape))


def instance_norm(x, weight, bias, *, eps):
    return group_norm(x, weight, bias, groups=x.shape[1], eps=eps)


def batch_norm_train(x, weight, bias, *, eps):
    return _standard(x, (0, *range(2, x.ndim)), eps) * _a_channel(x, weight) + _a_channel(x, bias)


def _batch_norm_flow(asked, upstream):
    x, weight = asked.tensors["x"], np.abs(_a_channel(asked.tensors["x"], asked.tensors["weight"]))
    return _a_channels_flow(upstream, weight, *_flowing(x, (0, *range(2, x.ndim)), asked.attributes["eps"], upstream * weight))


def batch_norm_eval(x, weight, bias, mean8, var8, *, eps):
    hat = (x - _a_channel(x, mean8 / 8)) / np.sqrt(_a_channel(x, var8 / 8) + eps)
    return hat * _a_channel(x, weight) + _a_channel(x, bias)


def l2_normalize(x, *, axis, eps):
    return x / np.maximum(np.sqrt((x * x).sum(axis, keepdims=True)), eps)


def _l2_normalize_flow(asked, upstream):
    x, axis, eps = asked.tensors["x"], asked.attributes["axis"], asked.attributes["eps"]
    y = np.abs(l2_normalize(x, axis=axis, eps=eps))
    return {"x": (upstream + y * (upstream * y).sum(axis, keepdims=True)) / np.maximum(np.sqrt((x * x).sum(axis, keepdims=True)), eps)}


def cosine_similarity(a, b, *, axis, eps=1e-8):
    return (l2_normalize(a, axis=axis, eps=eps) * l2_normalize(b, axis=axis, eps=eps)).sum(axis)


def _cosine_flow(asked, upstream):
    """A direction minus its part along the other: each has no more than the length 1."""
    a, b = asked.tensors["a"], asked.tensors["b"]
    g = 2 * np.expand_dims(upstream, asked.attributes["axis"])
    return {name: g / np.sqrt((x * x).sum(asked.attributes["axis"], keepdims=True)) for name, x in (("a", a), ("b", b))}


def _reduced(values, reduction):
    return values if reduction == "none" else {"mean": np.mean, "sum": np.sum}[reduction](values)


def log_softmax(x):
    shifted = x - x.max(1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(1, keepdims=True))


def _picked(x, ids):
    return np.take_along_axis(x, np.expand_dims(ids, 1), 1).squeeze(1)


def cross_entropy(x, ids, *, reduction, smoothing=0.0):
    logs = log_softmax(x)
    return _reduced(-(1 - smoothing) * _picked(logs, ids) - smoothing * logs.mean(1), reduction)


def cross_entropy_ignore(x, ids, *, ignore, reduction):
    kept = ids != ignore
    losses = np.where(kept, -_picked(log_softmax(x), np.where(kept, ids, 0)), 0.0)
    return losses.sum() / kept.sum() if reduction == "mean" else _reduced(losses, reduction)


def cross_entropy_weight(x, ids, weight8, *, reduction):
    weight = weight8[ids] / 8
    losses = -weight * _picked(log_softmax(x), ids)
    return losses.sum() / weight.sum() if reduction == "mean" else _reduced(losses, reduction)


def cross_entropy_soft(x, target, *, reduction):
    return _reduced(-(target / 8 * log_softmax(x)).sum(1), reduction)


def perplexity(x, ids):
    return np.exp(cross_entropy(x, ids, reduction="mean"))


def nll_loss(x, ids, *, reduction):
    return _reduced(-_picked(x, ids), reduction)


def log_softmax_gather(x, ids):
    return _picked(log_softmax(x), ids)


def _class_flow(asked, upstream):
    """A probability minus that of the target: 1 at most, or its weight; in the loss, the logarithm of a sum that is 1 or more."""
    x, size = asked.tensors["x"], asked.tensors.get("weight8", np.full(1, 8)).max() / 8
    losses = x.size // x.shape[1]
    g = share(asked, upstream, 1 if "ignore" in asked.attributes else losses)  # one at least is not ignored
    return {"x": size * (np.expand_dims(g, 1) if g.ndim else g), "y": size * (losses if asked.attributes.get("reduction") == "sum" else 1)}


def _perplexity_flow(asked, upstream):
    """As of its logarithm, times itself; it is wrong by that one's error."""
    x, own = asked.tensors["x"], perplexity(**asked.tensors)
    return {"x": own * upstream / len(x), "y": own * (1 + np.log(own))}


def bce(x, target, *, reduction):
    return _reduced(-(target / 8 * np.log(x) + (1 - target / 8) * np.log1p(-x)), reduction)


def bce_with_logits(x, target, *, reduction, positive=1.0):
    down, up = np.logaddexp(0, -x), np.logaddexp(0, x)
    return _reduced(positive * target / 8 * down + (1 - target / 8) * up, reduction)


def _logit_flow(asked, upstream):
    """A sigmoid minus its target; in the loss, |x| minus the target's part of it."""
    x, size = asked.tensors["x"], 1 + asked.attributes.get("positive", 1.0)
    return {"x": size * share(asked, upstream, x.size), "y": size * _reduced(np.abs(x), asked.attributes["reduction"])}


def embedding_sum(x, ids):
    return x[ids].sum(1)


CASE = Sweep(
    claim="Each norm, and each loss over classes, has the value and the gradients of its definition, with each of its options.",
    failure="wrong-gradient",
    items={
        # Roundings in series: mean, difference, square, mean, sum with eps, root, quotient, product, sum.
        "layer_norm": Op(
            forward=layer_norm, takes=normalized(parts=("weight", "bias"), eps=EPS), terms=count, roundings=9, cancels=_layer_norm_flow
        ),
        "layer_norm_plain": Op(forward=layer_norm, takes=normalized(eps=EPS), terms=count, roundings=9, cancels=_layer_norm_flow),
        "layer_norm_two_axes": Op(
            forward=layer_norm,
            takes=normalized(axes=2, parts=("weight", "bias"), eps=EPS),
            terms=count,
            roundings=9,
            cancels=_layer_norm_flow,
        ),
        "rms_norm": Op(forward=rms_norm, takes=normalized(parts=("weight",), eps=EPS), terms=count, roundings=7, cancels=_rms_norm_flow),
        "rms_norm_plain": Op(forward=rms_norm, takes=normalized(eps=EPS), terms=count, roundings=7, cancels=_rms_norm_flow),
        "group_norm": Op(forward=group_norm, takes=channelled(groups=(2, 3, 1)), terms=count, roundings=9, cancels=_group_norm_flow),
        "instance_norm": Op(forward=instance_norm, takes=channelled(), terms=count, roundings=9, cancels=_group_norm_flow),
        "batch_norm_train": Op(forward=batch_norm_train, takes=channelled(), terms=count, roundings=9, cancels=_batch_norm_flow),
        "batch_norm_eval": Op(forward=batch_norm_eval, takes=channelled(statistics=True), terms=count, roundings=7),
        "l2_normalize": Op(
            forward=l2_normalize, takes=vectors("x", eps=(1e-12, 0.25)), terms=count, roundings=6, cancels=_l2_normalize_flow
        ),
        "cosine_similarity": Op(forward=cosine_similarity, takes=vectors("ab"), terms=count, roundings=10, cancels=_cosine_flow),
        # Roundings in series: difference, exponential, sum, logarithm, difference, product, mean.
        "cross_entropy": Op(
            forward=cross_entropy, takes=classified(reduction=REDUCTIONS), terms=count, roundings=7, cancels=_class_flow, invalid=beyond
        ),
        "cross_entropy_smooth": Op(
            forward=cross_entropy,
            takes=classified(outside=False, reduction=REDUCTIONS, smoothing=(0.1, 0.5, 0.9)),
            terms=count,
            roundings=9,
            cancels=_class_flow,
        ),
        "cross_entropy_ignore": Op(
            forward=cross_entropy_ignore,
            takes=classified(ignored=True, reduction=REDUCTIONS, ignore=(-100, 0, 1, 255)),
            terms=count,
            roundings=7,
            cancels=_class_flow,
        ),
        "cross_entropy_weight": Op(
            forward=cross_entropy_weight,
            takes=classified(weighted=True, outside=False, reduction=REDUCTIONS),
            terms=count,
            roundings=9,
            cancels=_class_flow,
        ),
        "cross_entropy_soft": Op(
            forward=cross_entropy_soft, takes=mixed(reduction=REDUCTIONS), terms=count, roundings=8, cancels=_class_flow
        ),
        "cross_entropy_segment": Op(
            forward=cross_entropy,
            takes=classified(spatial=True, reduction=REDUCTIONS),
            terms=count,
            roundings=7,
            cancels=_class_flow,
            invalid=beyond,
        ),
        "perplexity": Op(
            forward=perplexity,
            takes=classified(outside=False, styles=("grid", "normal")),
            terms=count,
            roundings=8,
            cancels=_perplexity_flow,
        ),
        "nll_loss": Op(forward=nll_loss, takes=classified(reduction=REDUCTIONS), terms=count, invalid=beyond),
        "log_softmax_gather": Op(
            forward=log_softmax_gather, takes=classified(), terms=count, roundings=6, cancels=_class_flow, invalid=beyond
        ),
        "bce": Op(forward=bce, takes=targeted(0, 9, shares=True, reduction=REDUCTIONS), terms=count, roundings=7),
        "bce_with_logits": Op(
            forward=bce_with_logits, takes=targeted(0, 9, reduction=REDUCTIONS), terms=count, roundings=7, cancels=_logit_flow
        ),
        "bce_pos_weight": Op(
            forward=bce_with_logits,
            takes=targeted(0, 9, reduction=REDUCTIONS, positive=(2.0, 0.5)),
            terms=count,
            roundings=9,
            cancels=_logit_flow,
        ),
        "embedding_sum": Op(forward=embedding_sum, takes=looked_up(), terms=count, invalid=absent_row),
    },
)
