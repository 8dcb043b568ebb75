"""Optimizers over ten steps: a parameter p, its gradients g [10, ...], and what p is afterwards; and clipping. Nothing is to be differentiated.

Definitions are the papers'; where they leave out the epsilon or its place, the most common one. Options are sums of few powers of two: some frameworks keep
them in float32 whatever the parameter's type.
"""

import numpy as np

from harness.sweep.op import Op, Sweep
from harness.sweep.training import clipped, mean, optimizer, present, steady, steps


def sgd(p, g, lr):
    return steps(p, g, lambda p, grad, _, __: p - lr * grad)


def sgd_decay(p, g, lr, decay):
    return steps(p, g, lambda p, grad, _, __: p - lr * (grad + decay * p))


def heavy_ball(p, g, lr, momentum, nesterov=False):
    def step(p, grad, s, _):
        s["v"] = momentum * s.get("v", 0.0) + grad
        return p - lr * (grad + momentum * s["v"] if nesterov else s["v"])

    return steps(p, g, step)


def nesterov(p, g, lr, momentum):
    return heavy_ball(p, g, lr, momentum, nesterov=True)


def adagrad(p, g, lr, eps, initial, inside=False):
    def step(p, grad, s, _):
        s["v"] = s.get("v", initial) + grad**2
        return p - lr * grad / (np.sqrt(s["v"] + eps) if inside else np.sqrt(s["v"]) + eps)

    return steps(p, g, step)


def adagrad_inside(p, g, lr, eps, initial):
    return adagrad(p, g, lr, eps, initial, inside=True)


def rmsprop(p, g, lr, rho, eps, momentum=0.0, centered=False, inside=False):
    def step(p, grad, s, _):
        v = mean(s, "v", rho, grad**2)
        if centered:
            v = np.maximum(v - mean(s, "m", rho, grad) ** 2, 0.0)
        s["b"] = momentum * s.get("b", 0.0) + lr * grad / (np.sqrt(v + eps) if inside else np.sqrt(v) + eps)
        return p - s["b"]

    return steps(p, g, step)


def rmsprop_inside(p, g, lr, rho, eps):
    return rmsprop(p, g, lr, rho, eps, inside=True)


def rmsprop_centered(p, g, lr, rho, eps):
    return rmsprop(p, g, lr, rho, eps, centered=True)


def rmsprop_centered_inside(p, g, lr, rho, eps):
    return rmsprop(p, g, lr, rho, eps, centered=True, inside=True)


def rmsprop_momentum(p, g, lr, rho, eps, momentum):
    return rmsprop(p, g, lr, rho, eps, momentum=momentum)


def rmsprop_momentum_inside(p, g, lr, rho, eps, momentum):
    return rmsprop(p, g, lr, rho, eps, momentum=momentum, inside=True)


def adadelta(p, g, lr, rho, eps):
    def step(p, grad, s, _):
        v = mean(s, "v", rho, grad**2)
        d = np.sqrt(s.get("u", 0.0) + eps) / np.sqrt(v + eps) * grad
        mean(s, "u", rho, d**2)
        return p - lr * d

    return steps(p, g, step)


def lion(p, g, lr, beta1, beta2, decay):
    def step(p, grad, s, _):
        c = beta1 * s.get("m", 0.0) + (1 - beta1) * grad
        mean(s, "m", beta2, grad)
        return p * (1 - lr * decay) - lr * np.sign(c)

    return steps(p, g, step)


def adafactor(p, g, lr):
    """Shazeer and Stern: a rate relative to the parameter, factors of the last two axes, the update's mean square at most 1."""

    def rms(x):
        return np.sqrt(np.mean(np.square(x)))

    def step(p, grad, s, t):
        beta, square = 1 - t**-0.8, grad**2 + 1e-30
        if p.ndim < 2:
            v = mean(s, "v", beta, square)
        else:
            row, column = mean(s, "row", beta, square.mean(-1, keepdims=True)), mean(s, "column", beta, square.mean(-2, keepdims=True))
            v = row * column / row.mean(-2, keepdims=True)
        u = grad / np.sqrt(v)
        return p - max(1e-3, rms(p)) * min(lr, t**-0.5) * u / max(1.0, rms(u))

    return steps(p, g, step)


def momentum_absent(p, g, lr, momentum, absent):
    return heavy_ball(p, present(g, absent), lr, momentum)


def clip_norm(a, b, most):
    norm = np.sqrt(np.sum(a**2) + np.sum(b**2))
    return np.concatenate([a.ravel(), b.ravel()]) * np.minimum(1.0, most / norm)


def clip_each_norm(a, b, most):
    return np.concatenate([t.ravel() * np.minimum(1.0, most / np.sqrt(np.sum(t**2))) for t in (a, b)])


def clip_value(a, b, most):
    return np.clip(np.concatenate([a.ravel(), b.ravel()]), -most, most)


def any_number(asked):  # noqa: ARG001
    """A variance that is smaller than its rounding leaves an update of any size: that it is a number is what is asked."""
    return 1e37


def divided(asked):
    """Some add 1e-6 to the norm, not to divide by 0: the result is smaller by that share of itself."""
    return 1.1e-6 * asked.attributes["most"] / max(1.0, float(np.nan_to_num(np.linalg.norm(asked.tensors["b"]), nan=1.0)))


def squares(asked):
    return asked.tensors["a"].size + asked.tensors["b"].size


# In series: ten roundings of p; of an update, a mean's (2 a step, of which its decay leaves ten), a square, a root, two quotients, a product.
FEW, MANY = 16, 40
EPS, WIDE, ALL = (2.0**-27, 2.0**-13), ("float32", "float64", "bfloat16"), ("float32", "float64", "bfloat16", "float16")
KERAS, OPTAX = "https://keras.io/api/optimizers/", "https://optax.readthedocs.io/en/latest/api/optimizers.html"
PADDLE = "https://www.paddlepaddle.org.cn/documentation/docs/en/api/paddle/optimizer/"
HAT, INSIDE = "its epsilon is the paper's epsilon hat, as its text says", "epsilon is added under the root, as its formula has it"
UNDER = "the paper has no epsilon; it is added under the root"


def plain(**options):
    return optimizer(lr=(0.0625, 0.125), **options)


def under_a_loss_scale(takes):
    """Gradients as a trainer in float16 holds them now and then: times a loss scale, by which each number still fits."""

    def scaled(d):
        asked = takes(d)
        if d.choose(False, True) and max(np.abs(value).max(initial=0.0) for value in asked.tensors.values()) <= 8:
            for value in asked.tensors.values():
                value *= 2048.0
        return asked

    return scaled


CASE = Sweep(
    claim="Ten steps with given gradients leave the parameter that the optimizer's definition says, whatever its rank.",
    failure="optimizer",
    items={
        "sgd": Op(forward=sgd, takes=plain(), gradient=False, dtypes=ALL, roundings=FEW),
        "sgd_decay": Op(forward=sgd_decay, takes=plain(decay=(0.125, 0.5)), gradient=False, dtypes=ALL, roundings=FEW),
        "momentum": Op(forward=heavy_ball, takes=plain(momentum=(0.875, 0.5)), gradient=False, dtypes=ALL, roundings=MANY),
        "nesterov": Op(forward=nesterov, takes=plain(momentum=(0.875, 0.5)), gradient=False, dtypes=ALL, roundings=MANY),
        "momentum_absent": Op(
            forward=momentum_absent,
            takes=plain(absent=True, momentum=(0.875, 0.5)),
            gradient=False,
            dtypes=ALL,
            roundings=MANY,
            claim="A parameter that gets no gradient in a step is left alone in it, and so is its momentum.",
        ),
        "adagrad": Op(
            forward=adagrad,
            takes=plain(eps=EPS, initial=(0.125, 0.0)),
            gradient=False,
            dtypes=WIDE,
            roundings=MANY,
            documented={"jax": (OPTAX, INSIDE, adagrad_inside), "tensorflow": (KERAS + "adagrad/", UNDER, adagrad_inside)},
        ),
        "rmsprop": Op(
            forward=rmsprop,
            takes=plain(rho=(0.875, 0.5), eps=EPS),
            gradient=False,
            dtypes=WIDE,
            roundings=MANY,
            documented={
                "paddle": (PADDLE + "RMSProp_en.html", INSIDE, rmsprop_inside),
                "tensorflow": (KERAS + "rmsprop/", HAT, rmsprop_inside),
            },
        ),
        # In bfloat16 the variance, a difference of squares, is no larger than its rounding.
        "rmsprop_centered": Op(
            forward=rmsprop_centered,
            takes=plain(rho=(0.875, 0.5), eps=EPS),
            gradient=False,
            dtypes=("float32", "float64"),
            roundings=MANY,
            documented={
                "paddle": (PADDLE + "RMSProp_en.html", INSIDE, rmsprop_centered_inside),
                "tensorflow": (KERAS + "rmsprop/", HAT, rmsprop_centered_inside),
            },
        ),
        "rmsprop_centered_steady": Op(
            claim="A gradient that stays the same, whose variance goes to zero, leaves the parameter a number.",
            forward=rmsprop_centered,
            takes=steady(lr=(0.0625,), rho=(0.875, 0.5), eps=EPS),
            gradient=False,
            dtypes=WIDE,
            slack=any_number,
            explained={"y *": "any number is right but NaN: the step is a gradient over the root of a variance that rounding makes"},
        ),
        "rmsprop_momentum": Op(
            forward=rmsprop_momentum,
            takes=plain(rho=(0.875, 0.5), eps=EPS, momentum=(0.5,)),
            gradient=False,
            dtypes=WIDE,
            roundings=MANY,
            documented={
                "paddle": (PADDLE + "RMSProp_en.html", INSIDE, rmsprop_momentum_inside),
                "tensorflow": (KERAS + "rmsprop/", HAT, rmsprop_momentum_inside),
            },
        ),
        "adadelta": Op(
            forward=adadelta,
            takes=optimizer(lr=(1.0, 0.125), rho=(0.875, 0.5), eps=(2.0**-20, 2.0**-13)),
            gradient=False,
            dtypes=WIDE,
            roundings=MANY,
        ),
        "lion": Op(
            forward=lion,
            takes=plain(beta1=(0.875, 0.5), beta2=(1 - 2.0**-6, 0.875), decay=(0.0, 0.125)),
            gradient=False,
            dtypes=("float32", "float64"),
            roundings=FEW,
        ),
        "adafactor": Op(forward=adafactor, takes=plain(), gradient=False, dtypes=WIDE, roundings=MANY),
        "clip_norm": Op(
            forward=clip_norm, takes=under_a_loss_scale(clipped(most=(1.0, 16.0))), gradient=False, dtypes=ALL, roundings=8, terms=squares, slack=divided
        ),
        "clip_each_norm": Op(
            forward=clip_each_norm, takes=under_a_loss_scale(clipped(most=(1.0, 16.0))), gradient=False, dtypes=ALL, roundings=8, terms=squares, slack=divided
        ),
        "clip_value": Op(forward=clip_value, takes=clipped(most=(1.0, 0.5)), gradient=False, dtypes=ALL, roundings=1),
    },
)
