"""A run that is stopped, saved, loaded and continued, beside the same run without a stop: losses and weights must be the same bits.

Six steps on one matrix, w [out, in]: loss = mean((tanh(x w') - target)^2) of each step's own batch. The interrupted run stops after the third:
weights and everything of the optimizer go through the form in which the framework keeps them, into a new model and a new optimizer.

What is returned of it is the quotient interrupted / uninterrupted: 1 exactly, in each loss after the stop and each weight at the end. The
first of these losses is right without any optimizer state; the second and third are not. Losses and weights of the uninterrupted run are held
against float64, so that a run which resumes exactly from a wrong step does not pass.
"""

import numpy as np

from harness.case import Case, Item, Tol, close
from harness.inputs import grid, normal

STEPS, AFTER, ROWS = 6, 3, 4
LR, BETA1, BETA2, EPS, DECAY = 2.0**-5, 0.9, 0.999, 1e-8, 2.0**-4


def inputs(rng):
    return {"x": grid(rng, STEPS, ROWS, 6, span=1.0), "target": grid(rng, STEPS, ROWS, 5, span=0.5), "w": normal(rng, 5, 6, scale=0.4)}


def loss_and_gradient(x, target, w):
    y = np.tanh(x @ w.T)
    error = y - target
    return np.mean(error**2), (2 / error.size * error * (1 - y * y)).T @ x


def _answer(losses, w, resumed):
    return {"losses": np.array(losses), "w": w, "loss_quotient": np.ones(resumed), "w_quotient": np.ones_like(w)}


def adamw(x, target, w):
    losses, m, v = [], 0, 0
    for i in range(STEPS):
        loss, g = loss_and_gradient(x[i], target[i], w)
        losses.append(loss)
        m, v = BETA1 * m + (1 - BETA1) * g, BETA2 * v + (1 - BETA2) * g * g
        step = m / (1 - BETA1 ** (i + 1)) / (np.sqrt(v / (1 - BETA2 ** (i + 1))) + EPS)
        w = w - LR * DECAY * w - LR * step
    return _answer(losses, w, STEPS - AFTER)


def momentum(x, target, w):
    losses, m = [], 0
    for i in range(STEPS):
        loss, g = loss_and_gradient(x[i], target[i], w)
        losses.append(loss)
        m = BETA1 * m + g
        w = w - LR * m
    return _answer(losses, w, STEPS - AFTER)


EXACT = {dtype: Tol(rtol=0.0, atol=0.0, why="the same arithmetic on the same numbers") for dtype in ("float64", "float32")}
VALUES = {
    dtype: Tol(
        rtol=2e-5,
        atol=0.0,
        why="normwise; a gradient sums 20 terms, 20 u of their sizes, and a first step of Adam is g / |g|: an element whose terms cancel 10 x is "
        "off by 200 u, six steps of it by 1200 u of the step, whose size is below w's: 1200 u = 7e-5 of one element, spread over 30: 1.3e-5. u is "
        "float32's in float64 too: Burn keeps its betas and decay in float32, and this row asks whether a run resumes",
    )
    for dtype in ("float64", "float32")
}

CASE = Case(
    claim="A run continued from its saved weights and optimizer gives the bits of the run that never stopped.",
    failure="optimizer",
    inputs=inputs,
    tol=EXACT,
    checks=[
        close("losses", norm="normwise", tol=VALUES),
        close("w", norm="normwise", tol=VALUES),
        close("loss_quotient"),
        close("w_quotient"),
    ],
    items={
        "adamw": Item(claim="AdamW resumes: both moments, the step count, the weights.", reference=adamw),
        "momentum": Item(claim="SGD with momentum resumes: the velocity, the weights.", reference=momentum),
    },
    tracker={
        "candle": "adamw: the moments and the step count are private, so weights are all that can be saved, and a run continued from them is another; "
        "https://github.com/huggingface/candle/pull/3819 (open) would open them, and is what is asked. momentum: candle-nn has none, and no name to ask",
        "burn": "float64 with the default recorder: what its documentation calls full precision is float32; the variant `double` is the way out. "
        "0.22 pre-releases: https://github.com/tracel-ai/burn/issues/5130",
    },
    explained={
        "bfloat16 accumulator*": "numpy takes products of bfloat16 matrices, and of a bfloat16 array and a number, in float32: the mutant is the float32 twin",
    },
    guards="trainer/checkpoint.py",
)
