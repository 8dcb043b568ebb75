"""Sums of thousands of terms, and the losses, gradients and updates built on them, in bfloat16, whose eight bits make 256 + 1 = 256.

Each item has a part of equal terms, where a sequential bfloat16 accumulator stalls at exactly 256, and a realistic
random twin, because equal terms exaggerate. Terms are positive (or exponentials), so that a relative error means something. float32 and
float64 are the controls, and claims of their own: what a control finds (a gradient let through a maximum, an exp of float64 taken in float32)
is a finding too, and the tracker says which.

What is allowed in bfloat16 (u = 2^-8, the largest relative error of one rounding): a sum of n terms may be taken in bfloat16 by a pairwise
tree, or by blocks that are no worse: log2(n) u of the sum of the terms' sizes; then the result is rounded, u more. What each item adds stands
in its tolerance. In float32 and float64 any order of summation is allowed: n u. Logits are multiples of 1/16 within 4, so that subtracting
their maximum is exact in bfloat16 and no tolerance has to pay for it.

update_stall is a property of bfloat16 weights, not of a framework's arithmetic: 2^-10 is less than half the spacing of numbers below 1. The
row shows the trap beside each framework's way out of it (`master`). 2^-10 and not 1e-3: every framework then holds the learning rate exactly.
"""

import numpy as np

from harness.case import Case, Item, Tol, close
from harness.inputs import normal, positive

N, V, G = 4096, 32000, 16384
STEPS = 100
UNIT = {"float64": 2.0**-53, "float32": 2.0**-24, "bfloat16": 2.0**-8}
LOG_V, DEEPEST = 10.4, 15.0  # the largest log-sum of V exponentials of x - max; the largest -log p of these logits


def tolerances(terms, more, why, absolute=0.0):
    """``more`` and ``absolute`` count roundings beside those of the sum."""
    roundings = {d: (np.ceil(np.log2(terms)) + 1 if d == "bfloat16" else terms) for d in UNIT}
    tree = "pairwise: (ceil(log2 n) + 1) u" if terms > 1 else "u"
    return {
        d: Tol(rtol=(roundings[d] + more) * u, atol=absolute * u, why=f"n = {terms}; bfloat16 {tree}, else n u; {why}")
        for d, u in UNIT.items()
    }


def logits(rng, rows, width):
    """Row 0 uniform, the rest normal."""
    x = np.clip(np.round(rng.standard_normal((rows, width)) * 16), -64, 64) / 16
    x[0] = 0.0
    return x


def terms(rng):
    """The rows, and below the columns, of the random part are of different size: an answer that mixes them is another number."""
    return {"ones": np.ones((2, N)), "random": positive(rng, 2, N) * [[1], [4]]}


def total(ones, random):
    return {"ones": ones.sum(1), "random": random.sum(1)}


def average(ones, random):
    return {"ones": ones.mean(1), "random": random.mean(1)}


def two_rows(rng):
    return {"logits": logits(rng, 2, N)}


def probabilities(logits):
    e = np.exp(logits - logits.max(1, keepdims=True))
    y = e / e.sum(1, keepdims=True)
    return {"uniform": y[:1], "random": y[1:]}


def vocabulary(rng):
    return {"logits": logits(rng, 2, V), "target": rng.integers(0, V, size=2)}


def losses(logits, target):
    rows = np.arange(2)
    x = logits - logits.max(1, keepdims=True)
    log_p = x - np.log(np.exp(x).sum(1, keepdims=True))
    dlogits = np.exp(log_p)
    dlogits[rows, target] -= 1
    loss = -log_p[rows, target]
    return {"loss_uniform": loss[:1], "loss_random": loss[1:], "dlogits_uniform": dlogits[:1], "dlogits_random": dlogits[1:]}


def rows_of_gradient(rng):
    return {"dy": np.concatenate([np.ones((N, 2)), positive(rng, N, 2) * [2, 4]], axis=1)}


def summed_rows(dy):
    db = dy.sum(0)
    return {"ones": db[:2], "random": db[2:]}


def tokens(rng):
    """Token 0 N times, seven others 64 times each, in random order."""
    ids = rng.permutation(np.repeat(np.arange(8), [N, *[64] * 7]))
    return {"ids": ids, "dy": np.concatenate([np.ones((len(ids), 2)), positive(rng, len(ids), 2) * [2, 4]], axis=1)}


def summed_by_token(ids, dy):
    dtable = np.stack([dy[ids == token].sum(0) for token in range(8)])
    return {"ones": dtable[:, :2], "random": dtable[:, 2:]}


def weights(rng):
    return {
        "weight": np.concatenate([np.ones((1, 16)), normal(rng, 1, 16, scale=0.5)]),
        "grad": np.concatenate([np.ones((1, 16)), normal(rng, 1, 16)]),
    }


def descended(weight, grad):
    for _ in range(STEPS):
        weight = weight - grad / 1024
    return {"ones": weight[:1], "random": weight[1:]}


def running(rng):
    return {"ones": np.ones((1, 1024)), "random": positive(rng, 2, 1024) * [[1], [4]]}


def running_total(ones, random):
    return {"ones": np.cumsum(ones, axis=1), "random": np.cumsum(random, axis=1)}


def gradients_to_clip(rng):
    """One 2 among the ones: a vector of equal terms is clipped to the same numbers whatever it is."""
    return {"ones": np.array([2.0] + [1.0] * (G - 1)), "random": normal(rng, G)}


def clipped(ones, random):
    """Each to a norm of 1, which is below its own."""
    return {"ones": ones / np.sqrt((ones * ones).sum()), "random": random / np.sqrt((random * random).sum())}


SUM = tolerances(N, 0, "the terms are exact")
MEAN = tolerances(N, 2, "1/n and the product: 2 u")
SOFTMAX = tolerances(N, 2, "exp and the quotient: 2 u")
# log(sum) moves by the relative error of the sum; the roundings of log(sum), of x - max - log(sum) and of the mean are relative to the loss.
LOSS = tolerances(
    1,
    2,
    "log(sum), log p, mean: 3 u of the loss; the sum and its exponentials: (ceil(log2 V) + 2) u absolute, in float32 and float64 V u",
    absolute=17.0,
)
LOSS |= {d: Tol(rtol=3 * UNIT[d], atol=(V + 2) * UNIT[d], why=LOSS[d].why) for d in ("float64", "float32")}
DLOGITS = tolerances(
    V,
    LOG_V + DEEPEST + 3,
    "p = exp(log p) where log p was rounded: u times the sizes of log(sum) and log p; 2 exponentials and the result: 3 u",
)
CUMSUM = tolerances(1024, 0, "the terms are exact, and a running total has at most n")
CLIP = tolerances(G, 3, "half of the sum's roundings go under the root; its terms' squares, the root, the quotient and the product: 4 u")
CLIP["float64"] = Tol(rtol=1e-8, atol=0.0, why="1e-6 is added to a norm of 128 by torch, mlx and others, as they document: 8e-9")
STALL = {
    "bfloat16": Tol(
        rtol=2.0**-8, atol=STEPS * 2.0**-23, why="one rounding of a float32 weight: u; 100 float32 roundings of numbers below 2"
    ),
    "float32": Tol(rtol=0.0, atol=STEPS * 2.0**-23, why="100 roundings of numbers below 2, u = 2^-24"),
    "float64": Tol(rtol=0.0, atol=STEPS * 2.0**-52, why="100 roundings of numbers below 2, u = 2^-53"),
}

CASE = Case(
    claim="Sums of thousands of terms, and what is built on them, keep the accuracy of their type: no bfloat16 sum stalls at 256.",
    failure="low-precision",
    tol=SUM,
    items={
        "sum": Item(claim="The sum of 4096 positive terms does not stall.", inputs=terms, reference=total),
        "mean": Item(claim="The mean of 4096 positive terms does not stall.", inputs=terms, reference=average, tol=MEAN),
        "softmax": Item(claim="A softmax over 4096 logits sums to 1.", inputs=two_rows, reference=probabilities, tol=SOFTMAX),
        "cross_entropy": Item(
            claim="The loss over 32,000 classes is right, and so is its gradient.",
            inputs=vocabulary,
            reference=losses,
            tol=DLOGITS,
            checks=[close("loss_uniform", tol=LOSS), close("loss_random", tol=LOSS), close("dlogits_uniform"), close("dlogits_random")],
        ),
        "bias_grad": Item(claim="The gradient of a bias sums 4096 rows.", inputs=rows_of_gradient, reference=summed_rows, batch=["dy"]),
        "embedding_grad": Item(
            claim="The gradient of a token that occurs 4096 times sums 4096 rows.", inputs=tokens, reference=summed_by_token
        ),
        "cumsum": Item(claim="A running total of 1024 positive terms does not stall.", inputs=running, reference=running_total, tol=CUMSUM),
        "clip_norm": Item(
            claim="Gradients of 16,384 elements are clipped by their norm, not by a stalled one.",
            inputs=gradients_to_clip,
            reference=clipped,
            tol=CLIP,
        ),
        "update_stall": Item(
            claim="100 SGD steps of 2^-10 move a weight of 1 by 100/1024.", inputs=weights, reference=descended, tol=STALL
        ),
    },
    tracker={
        "candle": "sum, mean, softmax: https://github.com/huggingface/candle/issues/3727 (PRs 3717, 3718, 3765), and with it clip_norm. "
        "bias_grad, embedding_grad, cross_entropy in bfloat16: no report found. cross_entropy in float32 and float64: log_softmax lets a "
        "gradient through its maximum, which is nothing but the rounding of a sum over all classes, and each class that ties for the maximum "
        "gets all of it (the variant `detached` is the control): no report found",
        "torch": "embedding_grad: no report found",
        "jax": "embedding_grad: no report found",
        "mlx": "softmax in bfloat16: PRs 953, 4178; since then the documentation of `precise` warns of long axes. softmax, cross_entropy in "
        "float64: exp is taken in float32, https://github.com/ml-explore/mlx/issues/3047. embedding_grad: no report found. sum, mean, "
        "bias_grad, clip_norm stalled up to 0.32.1 (3326, 3909, PR 4387); cumsum still does: https://github.com/ml-explore/mlx/issues/3907",
        "burn": "the ndarray backend refuses bfloat16",
        "paddle": "a CPU has few bfloat16 kernels and says so (loud). sum stalled in 3.0.0. embedding_grad: no report found. update_stall with "
        "multi_precision: SGD makes float32 master weights and its CPU kernel never moves them: no report found",
        "tensorflow": "bias_grad (of bias_add; the gradient of a broadcast sum, the variant, is right), embedding_grad: no report found. "
        "cumsum: https://github.com/tensorflow/tensorflow/issues/115731",
    },
    guards="trainer/model.py, trainer/attention.py",
)
