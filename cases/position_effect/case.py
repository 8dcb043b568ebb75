"""What the order of a text is worth to an attention model: the loss of the last token after its context as it is, and after the same context shuffled.

One layer without a mask predicts from the last token's query: without positions its answer cannot depend on the order of the others, and `effect`, the
difference of the two losses, is zero to rounding. That is what positions over a wrong axis, or never added, look like in a real model, whose loss
falls all the same. The weights are random, and the three ways of giving positions are those of language models: rotary (adjacent pairs), a learned
table, and sines. rope_axis asks of the rotation itself; this row asks of the model around it.
"""

import numpy as np

from harness.case import Case, Item, Tol, close
from harness.inputs import normal

BATCH, TIME, CHANNELS, HEADS, VOCABULARY, BASE = 4, 8, 16, 2, 11, 10000.0


def inputs(rng):
    C = CHANNELS
    return {
        "ids": rng.permutation(np.arange(BATCH * TIME) % VOCABULARY).reshape(BATCH, TIME),
        "order": np.array([4, 2, 6, 0, 5, 1, 3]),
        "target": rng.integers(0, VOCABULARY, size=BATCH),
        "table": normal(rng, VOCABULARY, C),
        "w_q": normal(rng, C, C, scale=0.5),
        "w_k": normal(rng, C, C, scale=0.5),
        "w_v": normal(rng, C, C, scale=0.5),
        "head": normal(rng, VOCABULARY, C, scale=0.5),
    }


def with_table(rng):
    return {**inputs(rng), "position": normal(rng, TIME, CHANNELS)}


def angles(channels):
    return np.arange(TIME)[:, None] * BASE ** (-np.arange(0, channels, 2) / channels)


def rotated(x_BHTD):
    angle = angles(CHANNELS // HEADS)
    even, odd, cos, sin = x_BHTD[..., 0::2], x_BHTD[..., 1::2], np.cos(angle), np.sin(angle)
    return np.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1).reshape(x_BHTD.shape)


def unchanged(x):
    return x


def loss(x_BTC, target, w_q, w_k, w_v, head, turn):
    q, k, v = ((x_BTC @ w.T).reshape(len(target), TIME, HEADS, -1).swapaxes(1, 2) for w in (w_q, w_k, w_v))
    scores = turn(q)[:, :, -1:] @ turn(k).swapaxes(-1, -2) * (CHANNELS // HEADS) ** -0.5
    e = np.exp(scores - scores.max(-1, keepdims=True))
    last = (e / e.sum(-1, keepdims=True) @ v).reshape(-1, CHANNELS)
    logits = last @ head.T
    top = logits.max(1)
    return np.mean(np.log(np.exp(logits - top[:, None]).sum(1)) + top - logits[np.arange(len(target)), target])


def both(ids, order, table, added, **rest):
    """``added`` stays where it is: the tokens are shuffled, the positions are not."""
    shuffled = np.concatenate([ids[:, order], ids[:, -1:]], axis=1)
    nll, nll_shuffled = (loss(table[tokens] + added, **rest) for tokens in (ids, shuffled))
    return {"nll": np.array([nll]), "nll_shuffled": np.array([nll_shuffled]), "effect": np.array([nll_shuffled - nll])}


def rotary(**tensors):
    return both(**tensors, added=0, turn=rotated)


def learned(position, **tensors):
    return both(**tensors, added=position, turn=unchanged)


def sinusoidal(**tensors):
    angle = angles(CHANNELS)
    return both(**tensors, added=np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(TIME, CHANNELS), turn=unchanged)


TOL = {
    dtype: Tol(
        rtol=0.0,
        atol=1.2e-4,
        why="u = 2^-24; scores below 8 move a probability by 8 times what 17 + 9 roundings and the angles' do, 30 u each; logits below 8 and their "
        "log-sum add 20 roundings: (8 * 8 * 30 + 8 * 20) u = 1.2e-4. In float64 too: angles and sines are taken in float32 by some, and this row "
        "asks for the order, whose effect is 0.1 or more",
    )
    for dtype in ("float64", "float32")
}

CASE = Case(
    claim="A model's loss depends on the order of its context, by as much as its positions say.",
    failure="axis",
    inputs=inputs,
    tol=TOL,
    checks=[close("nll"), close("nll_shuffled"), close("effect")],
    batch=("ids", "target"),
    items={
        "rotary": Item(claim="Rotary positions make the order count.", reference=rotary),
        "learned": Item(claim="A learned table of positions makes the order count.", inputs=with_table, reference=learned),
        "sinusoidal": Item(claim="Sines added to the embedding make the order count.", reference=sinusoidal),
    },
    tracker={"burn": "[batch, time, heads, channels] rotated by the head's index is rope_axis; this row uses the documented layout"},
    explained={
        "bfloat16 accumulator*": "rotary, sinusoidal: numpy takes bfloat16 times the float64 angles in float64, so the mutant is the float64 twin; "
        "learned has no angles, and it is killed there",
    },
    guards="gradarbiter's position checks; trainer/model.py",
)
