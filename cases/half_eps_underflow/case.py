"""Epsilons that float16 does not hold: 2^-26 and 1e-8 are 0 there; careful that rows are there which nothing but epsilon keeps finite.

A norm's first row is zero, as after a zero initialisation, and its second so small that its squares are 0 in float16; the third is an ordinary one.
dy shrinks with x, so that dx of each row is of the same size. Adam's first row has no gradient, its second one whose square is 0 in float16.
float32 is the control.
"""

import numpy as np

from harness.case import Case, Item, Tol
from harness.inputs import grid

EPS = 2.0**-26
LR, BETAS, ADAM_EPS, STEPS = 2.0**-4, (0.9, 0.999), 1e-8, 3
UNIT = {"float32": 2.0**-24, "float16": 2.0**-11}


def rms_norm_inputs(rng):
    x_TD, dy_TD = grid(rng, 3, 8), grid(rng, 3, 8)
    return {"x": x_TD * [[0], [2.0**-12], [1]], "w": grid(rng, 8), "dy": dy_TD * [[2.0**-13], [2.0**-12], [1]]}


def rms_norm(x, w, dy):
    r = 1 / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + EPS)
    n, dn = x * r, dy * w
    return {"y": n * w, "dx": r * (dn - n * np.mean(dn * n, axis=-1, keepdims=True)), "dw": np.sum(dy * n, axis=0)}


def layer_norm_inputs(rng):
    return rms_norm_inputs(rng) | {"b": grid(rng, 8)}


def layer_norm(x, w, b, dy):
    c = x - np.mean(x, axis=-1, keepdims=True)
    r = 1 / np.sqrt(np.mean(c**2, axis=-1, keepdims=True) + EPS)
    n, dn = c * r, dy * w
    dx = r * (dn - np.mean(dn, axis=-1, keepdims=True) - n * np.mean(dn * n, axis=-1, keepdims=True))
    return {"y": n * w + b, "dx": dx, "dw": np.sum(dy * n, axis=0), "db": np.sum(dy, axis=0)}


def adam_inputs(rng):
    return {"w": grid(rng, 3, 4), "g": grid(rng, STEPS, 3, 4) * [[0], [2.0**-12], [1]]}  # a gradient for each step


def adam(w, g):
    m, v = np.zeros_like(w), np.zeros_like(w)
    b1, b2, rest1, rest2 = (w.dtype.type(x) for x in (*BETAS, 1 - BETAS[0], 1 - BETAS[1]))
    for step in range(1, STEPS + 1):
        m, v = b1 * m + rest1 * g[step - 1], b2 * v + rest2 * g[step - 1] ** 2
        m_hat, v_hat = m / w.dtype.type(1 - BETAS[0] ** step), v / w.dtype.type(1 - BETAS[1] ** step)
        w = w - w.dtype.type(LR) * m_hat / (np.sqrt(v_hat) + w.dtype.type(ADAM_EPS))
    return {"after": w}


NORM = {
    "float32": Tol(
        rtol=0.0,
        atol=30 * 2.0**-24 * 7,
        why="8 roundings in each of two sums over D, 5 of n (used twice: 10), 4 in what remains, on terms of at most 7: 30 * 7",
    ),
    "float16": Tol(
        rtol=0.0,
        atol=4 * 2.0**-11 * 7 + 2.0**-12,
        why="accumulated in float32; a composed path rounds n, dn, n w and the result to float16: 4 roundings of at most 7; dn of the first row is "
        "below 2^-14, where float16 is off by 2^-25 at most, times 2^13: 2^-12",
    ),
}

CASE = Case(
    claim="An epsilon that float16 does not hold still keeps a norm and an optimizer finite.",
    failure="low-precision",
    tol=NORM,
    tracker={
        "jax": "standardize takes its mean of squares and adds epsilon in the tensor's type: no ticket known",
        "torch": "AdamW adds epsilon in the weights' type; the way out is float32 weights (master): no ticket known",
        "candle": "nn::RmsNorm and nn::LayerNorm add epsilon in float32; a norm written by hand (handwritten) and AdamW in the tensor's type: no ticket known",
    },
    explained={
        "bfloat16 accumulator@float16": "sums of 8 terms and 3 steps: such an accumulator loses what the tolerance gives to float16's own roundings",
    },
    items={
        "rms_norm": Item(claim="RMSNorm of zeros and of tiny rows is finite and right.", inputs=rms_norm_inputs, reference=rms_norm),
        "layer_norm": Item(
            claim="LayerNorm of zeros and of tiny rows is finite and right.", inputs=layer_norm_inputs, reference=layer_norm
        ),
        "adam": Item(
            claim="Adam leaves a weight without a gradient alone and moves one with a tiny gradient by the learning rate.",
            inputs=adam_inputs,
            reference=adam,
            tol={
                d: Tol(
                    rtol=0.0,
                    atol=STEPS * (u * (2.5 + 12 * LR) + 500 * 2.0**-24 * LR),
                    why="each of 3 steps rounds a weight of at most 2.5, and moves it by 2^-4 that is off by 12 roundings, and by half of the 1000 u "
                    "that 1 - 0.999 loses in float32",
                )
                for d, u in UNIT.items()
            },
        ),
    },
)
