"""The same operation on a view as on its contiguous copy; careful that axes which a view swaps differ in size, so that a misread stride is seen.

linear_layout has the linear layer. Each input is stored with its axes in another order and turned by a view in the run file: the answer must not
depend on how it lies in memory. A layout is no matter of type: float32 alone is asked.
"""

import numpy as np

from harness.case import Case, Item, Tol
from harness.inputs import grid

EPS = 1e-5


def norm_inputs(rng):
    return {"x": grid(rng, 2, 5, 3, 8), "w": grid(rng, 8), "dy": grid(rng, 2, 3, 5, 8)}  # x BTHD, dy BHTD


def rms_norm(x, w, dy):
    r = 1 / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + EPS)
    return _norm(x * r, r, w, dy, mean=False)


def layer_norm_inputs(rng):
    return norm_inputs(rng) | {"b": grid(rng, 8)}


def layer_norm(x, w, b, dy):
    c = x - np.mean(x, axis=-1, keepdims=True)
    r = 1 / np.sqrt(np.mean(c**2, axis=-1, keepdims=True) + EPS)
    answer = _norm(c * r, r, w, dy, mean=True)
    return answer | {"y": answer["y"] + b, "db": np.sum(dy, axis=(0, 1, 2))}


def _norm(n, r, w, dy, mean):
    dy = dy.swapaxes(1, 2)
    dn = dy * w
    centred = dn - np.mean(dn, axis=-1, keepdims=True) if mean else dn
    dx = r * (centred - n * np.mean(dn * n, axis=-1, keepdims=True))
    return {"y": (n * w).swapaxes(1, 2), "dx": dx, "dw": np.sum(dy * n, axis=(0, 1, 2))}


def softmax_inputs(rng):
    return {"x": grid(rng, 2, 6, 5), "dy": grid(rng, 2, 5, 6)}  # x BST, dy BTS


def softmax(x, dy):
    e = np.exp(x.swapaxes(1, 2) - np.max(x, axis=1)[..., None])
    y = e / np.sum(e, axis=-1, keepdims=True)
    return {"y": y, "dx": (y * (dy - np.sum(dy * y, axis=-1, keepdims=True))).swapaxes(1, 2)}


def shared_right_inputs(rng):
    return {"a": grid(rng, 2, 4, 5), "b": grid(rng, 4, 3), "dy": grid(rng, 2, 5, 3)}  # a BCT, b CO, dy BTO


def shared_right(a, b, dy):
    return {"y": np.einsum("bct,co->bto", a, b), "da": np.einsum("bto,co->bct", dy, b), "db": np.einsum("bct,bto->co", a, dy)}


def shared_left_inputs(rng):
    return {"a": grid(rng, 5, 4), "b": grid(rng, 2, 4, 3), "dy": grid(rng, 2, 5, 3)}  # a TC, b BCO, dy BTO


def shared_left(a, b, dy):
    return {"y": np.einsum("tc,bco->bto", a, b), "da": np.einsum("bto,bco->tc", dy, b), "db": np.einsum("tc,bto->bco", a, dy)}


def heads_inputs(rng):
    return {"q": grid(rng, 2, 5, 3, 4), "k": grid(rng, 2, 6, 3, 4), "dy": grid(rng, 2, 3, 5, 6)}  # q BTHD, k BSHD, dy BHTS


def heads(q, k, dy):
    return {
        "y": np.einsum("bthd,bshd->bhts", q, k),
        "dq": np.einsum("bhts,bshd->bthd", dy, k),
        "dk": np.einsum("bhts,bthd->bshd", dy, q),
    }


def conv1d_inputs(rng):
    return {"x": grid(rng, 2, 7, 3), "w": grid(rng, 4, 3, 3), "dy": grid(rng, 2, 4, 7)}  # x BTC, w OCK, dy BOT


def conv1d(x, w, dy):
    """Three taps, one zero on each side: y[t] = sum over taps of x[t + tap - 1] w[tap]."""
    taps = [np.eye(x.shape[1], k=k - 1, dtype=x.dtype) for k in range(3)]
    shifted = np.stack([np.einsum("ts,bsc->btc", s, x) for s in taps])  # KBTC
    back = np.einsum("bot,ock->kbtc", dy, w)
    return {
        "y": np.einsum("kbtc,ock->bot", shifted, w),
        "dx": sum(np.einsum("ts,btc->bsc", s, g) for s, g in zip(taps, back, strict=True)),
        "dw": np.einsum("kbtc,bot->ock", shifted, dy),
    }


def conv1d_kernel_inputs(rng):
    made = conv1d_inputs(rng)
    return made | {"x": grid(rng, 2, 3, 7), "w": grid(rng, 3, 3, 4)}  # x BCT, w KCO


def conv1d_kernel(x, w, dy):
    answer = conv1d(x.swapaxes(1, 2), w.transpose(2, 1, 0), dy)
    return answer | {"dx": answer["dx"].swapaxes(1, 2), "dw": answer["dw"].transpose(2, 1, 0)}


def conv2d_inputs(rng):
    return {"x": grid(rng, 2, 5, 6, 3), "w": grid(rng, 2, 3, 3, 4), "dy": grid(rng, 2, 4, 4, 4)}  # x BHWC, w HWIO, dy BOHW


def conv2d(x, w, dy):
    """Taps of 2 x 3 without padding."""
    windows = np.lib.stride_tricks.sliding_window_view(x, (2, 3), axis=(1, 2))  # BHWCij
    dx = np.zeros_like(x)
    for i, j in np.ndindex(2, 3):
        dx[:, i : i + 4, j : j + 4] += np.einsum("bohw,co->bhwc", dy, w[i, j])
    return {
        "y": np.einsum("bhwcij,ijco->bohw", windows, w),
        "dx": dx,
        "dw": np.einsum("bhwcij,bohw->ijco", windows, dy),
    }


def embedding_inputs(rng):
    return {"ids": rng.integers(0, 4, size=(5, 2)), "w": grid(rng, 4, 3), "dy": grid(rng, 2, 5, 3)}  # ids TB, w VD, dy BTD


def embedding(ids, w, dy):
    dw = np.zeros_like(w)
    np.add.at(dw, ids.T, dy)
    return {"y": w[ids.T], "dw": dw}


def _tol(roundings, size, what):
    """``size`` bounds the sum of the terms' sizes of any output of these inputs."""
    return {"float32": Tol(rtol=0.0, atol=roundings * 2.0**-24 * size, why=f"{what}: {roundings} roundings of at most {size}")}


_NORM = "8 roundings in each of two sums over D, 5 of n (used twice: 10), 4 in what remains, and a sum of 30 rows"

CASE = Case(
    claim="An operation on a view gives the numbers, and the gradients, of the same operation on its contiguous copy.",
    failure="layout",
    tol=_tol(1, 1, "replaced by each item"),
    tracker={
        "candle": "rms_norm, layer_norm: a view takes another path, which has the gradient that the contiguous one lacks: "
        "https://github.com/huggingface/candle/issues/2168. shared_left: https://github.com/huggingface/candle/issues/3744 and "
        "https://github.com/huggingface/candle/pull/3960, fixed in 0.11.1; shared_right: fix proposed in https://github.com/huggingface/candle/pull/3758. "
        "conv1d, conv1d_kernel: https://github.com/huggingface/candle/pull/3836 has kernels that are views; that each weight's gradient is one of them, and "
        "is as wrong on the contiguous copy: no ticket known",
    },
    guards="the trainer's attention, where heads are views",
    items={
        "rms_norm": Item(inputs=norm_inputs, reference=rms_norm, tol=_tol(60, 36, _NORM), batch=("x", "dy")),
        "layer_norm": Item(inputs=layer_norm_inputs, reference=layer_norm, tol=_tol(60, 36, _NORM), batch=("x", "dy")),
        "softmax": Item(
            inputs=softmax_inputs, reference=softmax, tol=_tol(30, 1, "10 of y, used twice, a sum of 6 and two"), batch=("x", "dy")
        ),
        "shared_right": Item(
            claim="A batch of views times one matrix for all of it.",
            inputs=shared_right_inputs,
            reference=shared_right,
            tol=_tol(10, 15, "at most 10 products"),
            batch=("a", "dy"),
        ),
        "shared_left": Item(
            claim="One matrix times each of a batch.",
            inputs=shared_left_inputs,
            reference=shared_left,
            tol=_tol(10, 15, "at most 10 products"),
            batch=("b", "dy"),
        ),
        "heads": Item(
            claim="Scores of heads that are views of [batch, time, heads, width].",
            inputs=heads_inputs,
            reference=heads,
            tol=_tol(6, 12, "at most 6 products"),
            batch=("q", "k", "dy"),
        ),
        "conv1d": Item(
            claim="A convolution of a view, and the gradient of its weight, whose product is one of views whatever the input is.",
            inputs=conv1d_inputs,
            reference=conv1d,
            tol=_tol(14, 18, "at most 14 products"),
            batch=("x", "dy"),
        ),
        "conv1d_kernel": Item(
            claim="A convolution whose kernel is a view, and the gradient of its weight.",
            inputs=conv1d_kernel_inputs,
            reference=conv1d_kernel,
            tol=_tol(14, 22, "at most 14 products"),
            batch=("x", "dy"),
        ),
        "conv2d": Item(inputs=conv2d_inputs, reference=conv2d, tol=_tol(32, 40, "at most 32 products"), batch=("x", "dy")),
        "embedding": Item(
            claim="Ids that are a view pick their rows, and their gradients meet there.",
            inputs=embedding_inputs,
            reference=embedding,
            tol=_tol(10, 5, "at most 10 rows summed"),
        ),
    },
)
