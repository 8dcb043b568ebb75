"""A query that sees no key, as in a padded batch; careful to ask only for what no convention decides.

The values of such a row are left out, and its dy is zero: a loss does not look at padding. What remains are the other rows and all gradients, and
there is one right answer to them. In floating point 0 times a row that is not a number is not a number, and every key and value then has its share.
Minus infinity added to a whole row and a softmax of it is no item: 0/0 is what was asked for, and every framework gives it.
"""

import numpy as np

from harness.case import Case, Item, Tol
from harness.inputs import grid

ROW = 2  # the row that sees nothing


def inputs(rng):
    seen_TS = np.tri(5, dtype=bool)
    seen_TS[ROW] = False
    dy = grid(rng, 2, 3, 5, 4)
    dy[:, :, ROW] = 0
    q, k, v = (grid(rng, 2, 3, 5, 4) for _ in range(3))
    return {"q": q, "k": k, "v": v, "dy": dy, "seen": seen_TS.astype(np.int64)}  # BHTD


def reference(q, k, v, dy, seen):
    scale = q.dtype.type(q.shape[-1] ** -0.5)
    s = np.einsum("bhtd,bhsd->bhts", q, k) * scale
    p = np.exp(s - np.max(s, axis=-1, keepdims=True)) * seen.astype(q.dtype)
    total = np.sum(p, axis=-1, keepdims=True)
    p = p / np.where(total == 0, np.ones_like(total), total)
    dp = np.einsum("bhtd,bhsd->bhts", dy, v)
    ds = p * (dp - np.sum(dp * p, axis=-1, keepdims=True)) * scale
    others = np.arange(q.shape[2]) != ROW
    return {
        "y": np.einsum("bhts,bhsd->bhtd", p, v)[:, :, others],
        "dq": np.einsum("bhts,bhsd->bhtd", ds, k),
        "dk": np.einsum("bhts,bhtd->bhsd", ds, q),
        "dv": np.einsum("bhts,bhtd->bhsd", p, dy),
    }


CASE = Case(
    claim="A query that sees no key leaves the other rows and every gradient finite and right.",
    failure="wrong-gradient",
    inputs=inputs,
    reference=reference,
    tol={
        "float32": Tol(
            rtol=0.0,
            atol=1200 * 2.0**-24,
            why="scores: 5 roundings of at most 6, through exp 30 u of p; p: 8 u; dp: 5 u; the difference of at most 8 of these: 8 * 43 u = 350 u; "
            "times at most 2, and half as much again for the sums over keys and queries",
        )
    },
    batch=("q", "k", "v", "dy"),
    tracker={
        "candle": "run_flash_attn_cpu: 0.11.1 refuses a mask for a batch of more than one, and has no gradient (flash_attention_backward); the row itself, "
        "which is not asked, was not a number up to 0.10.2 and is 0 from 0.11.0: no ticket known",
        "torch": "scaled_dot_product_attention gave not a number up to 2.4.1",
    },
    guards="trainer/attention.py",
    items={
        "lowest": Item(
            claim="The lowest finite number is added to the scores, then a softmax; the row's own gradients are zero as its dy is."
        ),
        "fused": Item(claim="The fused attention is given the mask."),
    },
)
