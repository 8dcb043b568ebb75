"""Gradients of gradients: an item answers the framework's own gradient of sum(f(x) v), which is differentiated once more, by x, v and what else it is of.

The definitions are these gradients in closed form. Last comes what changes a backward and not what it is of: recomputation, stopped and replaced gradients.
"""

from math import erf

import numpy as np

from harness.sweep.op import Asked, Op, Sweep

erf_of = np.vectorize(erf, otypes=[float])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def shares(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def total(x):
    return x.sum(axis=-1, keepdims=True)


def softmax(x, v):
    p = shares(x)
    return p * (v - total(p * v))


def log_softmax(x, v):
    return v - shares(x) * total(v)


def logsumexp(x, v):
    return shares(x) * v


def layer_norm(x, v):
    mean = x.mean(axis=-1, keepdims=True)
    rstd = 1 / np.sqrt(np.mean((x - mean) ** 2, axis=-1, keepdims=True) + 1e-5)
    y = (x - mean) * rstd
    return rstd * (v - v.mean(axis=-1, keepdims=True) - y * np.mean(v * y, axis=-1, keepdims=True))


def norm(x, v):
    return x / np.sqrt(total(x**2)) * v


def gelu(x, v):
    return v * (0.5 * (1 + erf_of(x / np.sqrt(2))) + x * np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi))


def tanh(x, v):
    return v * (1 - np.tanh(x) ** 2)


def silu(x, v):
    s = sigmoid(x)
    return v * s * (1 + x * (1 - s))


def softplus(x, v):
    return v * sigmoid(x)


def exp(x, v):
    return v * np.exp(x)


def sqrt(x, v):
    return v / (2 * np.sqrt(x))


def divide(x, w, v):
    """By w, the divisor."""
    return -v * x / w**2


def matmul(x, w, v):  # noqa: ARG001  a linear function has a gradient without it
    return v @ w.swapaxes(-1, -2)


def variance(x, v):
    return 2 * (x - x.mean(axis=-1, keepdims=True)) / x.shape[-1] * v


def cumsum(x, v):
    """Of the sum's square."""
    s = 2 * np.cumsum(x, axis=-1) * v
    return np.cumsum(s[..., ::-1], axis=-1)[..., ::-1]


def conv1d(x, w, v):
    """By x [B, C, L], of w [O, C, K]."""
    out = np.zeros(x.shape)
    for k in range(w.shape[-1]):
        out[..., k : k + v.shape[-1]] += np.einsum("bol,oc->bcl", v, w[..., k])
    return out


def recomputed(x, w, v):
    """Of tanh(x w) silu(x w), whatever is kept or computed again."""
    z = x @ w
    t, s = np.tanh(z), sigmoid(z)
    return (v * ((1 - t**2) * z * s + t * s * (1 + z * (1 - s)))) @ w.swapaxes(-1, -2)


def stopped(x, v):
    """Of x times x, of which one is held."""
    return x * v


def rounded(x, v):
    """Of round(x) squared, where rounding passes its gradient on."""
    return 2 * np.round(x) * v


def backwards(x, v):
    """Of a square behind an identity whose own backward turns the sign and halves it."""
    return -0.5 * 2 * x * v


def pair(d, shape, *v, styles=("grid", "normal")):
    return Asked(tensors={"x": d.floats(*shape, styles=styles), "v": d.floats(*v)})


def each(d):
    shape = d.shape()
    return pair(d, shape, *shape)


def between_halves(d):
    shape = d.shape()
    return pair(d, shape, *shape, styles=("normal",))


def rows(d):
    shape = (*d.shape(0, 2), d.choose(3, 2, 4))
    return pair(d, shape, *shape)


def row(d):
    """``v`` has one number for each row of ``x``."""
    shape = (*d.shape(0, 2), d.choose(3, 2, 4))
    return pair(d, shape, *shape[:-1], 1)


def above(d):
    shape = d.shape()
    return pair(d, shape, *shape, styles=("positive",))


def quotient(d):
    shape = d.shape()
    return Asked(tensors={"x": d.floats(*shape), "w": d.floats(*shape, styles=("positive",)), "v": d.floats(*shape)})


def product(d):
    lead, m, k, n = d.choose((), (2,)), d.choose(2, 3, 1), d.choose(3, 2, 1), d.choose(2, 4, 1)
    return Asked(tensors={"x": d.floats(*lead, m, k), "w": d.floats(*lead, k, n), "v": d.floats(*lead, m, n)})


def window(d):
    batch, into, out, count, length = d.choose(2, 1), d.choose(2, 1, 3), d.choose(3, 1, 2), d.choose(2, 3, 1), d.choose(4, 5, 3)
    x, w, v = (batch, into, length), (out, into, count), (batch, out, length - count + 1)
    return Asked(tensors={"x": d.floats(*x), "w": d.floats(*w), "v": d.floats(*v)})


def of_rows(asked, upstream):
    """Each derivative is a sum of products of three: of a row, of its v and of the gradient that comes in; none of them grows by more than its size."""
    x, v, u = (np.abs(t) for t in (asked.tensors["x"], asked.tensors["v"], upstream))
    steep = 1.0 + x.max(axis=-1, keepdims=True)
    size = 4 * steep * total(u) * total(v)
    return {
        "x": np.broadcast_to(size, x.shape),
        "v": np.broadcast_to(4 * steep * total(u), x.shape) if v.shape == x.shape else 4 * steep * total(u),
    }


def of_each(asked, upstream):
    """A slope is a sum of numbers of size 1 + |x|, such as 1 - tanh^2, and its own slope one of numbers twice as large."""
    x, v = np.abs(asked.tensors["x"]), np.abs(asked.tensors["v"])
    return {"y": (1 + x) * v, "x": 2 * (1 + x) * v * upstream, "v": (1 + x) * upstream}


def of_norm(asked, upstream):
    """The same, over a spread that may be small."""
    x = asked.tensors["x"]
    rstd = 1 / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)
    scaled = 1 + np.abs(x).max(axis=-1, keepdims=True) * rstd
    sizes = of_rows(asked, upstream)
    return {
        "x": sizes["x"] * (rstd * scaled) ** 2,
        "v": sizes["v"] * rstd * scaled,
        "y": total(np.abs(asked.tensors["v"])) * rstd * scaled**2,
    }


def of_length(asked, upstream):
    size = 1 / np.sqrt(total(asked.tensors["x"] ** 2))
    sizes = of_rows(asked, upstream)
    return {"x": sizes["x"] * np.maximum(1, size) ** 2, "v": sizes["v"]}


def products(asked, upstream):
    t = {n: np.abs(a) for n, a in asked.tensors.items()}
    grown = (1 + t["x"].sum() + t["w"].sum()) * t["v"].max() * upstream.sum()
    return {
        "x": 4 * grown * (1 + t["w"].sum()),
        "w": 4 * grown * (1 + t["x"].sum()),
        "v": 4 * grown,
        "y": 4 * t["v"].sum() * (1 + t["w"].sum()),
    }


def inner(asked):
    return max(max(t.shape) for t in asked.tensors.values()) * 3


CASE = Sweep(
    claim="The gradient of an operation's gradient is that of the closed form, and a replaced gradient is the one it was replaced by.",
    failure="wrong-gradient",
    items={
        "softmax": Op(forward=softmax, takes=rows, roundings=20, cancels=of_rows),  # of them 8 for exp as exp2(x log2 e), |x| < 4
        "log_softmax": Op(forward=log_softmax, takes=rows, roundings=12, cancels=of_rows),
        "logsumexp": Op(forward=logsumexp, takes=row, roundings=12, cancels=of_rows),
        "layer_norm": Op(forward=layer_norm, takes=rows, roundings=16, cancels=of_norm),
        "norm": Op(forward=norm, takes=row, roundings=12, cancels=of_length),
        "variance": Op(forward=variance, takes=row, roundings=8, cancels=of_rows),
        "gelu": Op(forward=gelu, takes=each, cancels=of_each, roundings=16),
        "tanh": Op(forward=tanh, takes=each, cancels=of_each, roundings=8),
        "silu": Op(forward=silu, takes=each, cancels=of_each, roundings=12),
        "softplus": Op(forward=softplus, takes=each, cancels=of_each, roundings=8),
        "exp": Op(forward=exp, takes=each),
        "sqrt": Op(forward=sqrt, takes=above, roundings=8),
        "divide": Op(forward=divide, takes=quotient, roundings=8),
        "matmul": Op(forward=matmul, takes=product, terms=inner),
        "cumsum": Op(forward=cumsum, takes=rows, roundings=8, cancels=of_rows),
        "conv1d": Op(forward=conv1d, takes=window, terms=inner),
        "recomputed": Op(forward=recomputed, takes=product, roundings=16, cancels=products),
        # Not what a difference sees: the first gradient alone is asked.
        "stopped": Op(forward=stopped, takes=between_halves, gradient=False),
        "rounded": Op(forward=rounded, takes=between_halves, gradient=False),
        "reversed": Op(forward=backwards, takes=between_halves, gradient=False),
    },
)
