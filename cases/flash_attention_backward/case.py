"""Fused attention, forward and backward; careful that queries and keys differ in number where nothing is causal, and that dy is no constant.

candle takes [batch, time, heads, width] and gives [batch, heads, time, width]; so does this case. candle-flash-attn itself runs on CUDA only: the item
`cuda`. What candle has for a CPU are the other items.
"""

import numpy as np

from harness.case import Case, Item, Tol
from harness.inputs import grid

WINDOW = 3


def crossed(rng):
    return {
        "q": grid(rng, 1, 4, 2, 8),
        "k": grid(rng, 1, 6, 2, 8),
        "v": grid(rng, 1, 6, 2, 8),
        "dy": grid(rng, 1, 2, 4, 8),
    }  # q BTHD, k v BSHD, dy BHTD


def square(rng):
    return {"q": grid(rng, 1, 6, 2, 8), "k": grid(rng, 1, 6, 2, 8), "v": grid(rng, 1, 6, 2, 8), "dy": grid(rng, 1, 2, 6, 8)}


def full(q, k, v, dy):
    return _attention(q, k, v, dy, np.ones((q.shape[1], k.shape[1]), dtype=bool))


def causal(q, k, v, dy):
    return _attention(q, k, v, dy, np.tri(q.shape[1], dtype=bool))


def masked(q, k, v, dy):
    """Causal, and no key further back than two positions."""
    T = q.shape[1]
    return _attention(q, k, v, dy, np.tri(T, dtype=bool) & ~np.tri(T, k=-WINDOW, dtype=bool))


def _attention(q, k, v, dy, seen_TS):
    q, k, v = (x.swapaxes(1, 2) for x in (q, k, v))  # BHTD
    scale = q.dtype.type(q.shape[-1] ** -0.5)
    s_BHTS = np.where(seen_TS, np.einsum("bhtd,bhsd->bhts", q, k) * scale, q.dtype.type(-np.inf))
    e_BHTS = np.exp(s_BHTS - np.max(s_BHTS, axis=-1, keepdims=True))
    p_BHTS = e_BHTS / np.sum(e_BHTS, axis=-1, keepdims=True)
    dp_BHTS = np.einsum("bhtd,bhsd->bhts", dy, v)
    ds_BHTS = p_BHTS * (dp_BHTS - np.sum(dp_BHTS * p_BHTS, axis=-1, keepdims=True)) * scale
    return {
        "y": np.einsum("bhts,bhsd->bhtd", p_BHTS, v),
        "dq": np.einsum("bhts,bhsd->bthd", ds_BHTS, k),
        "dk": np.einsum("bhts,bhtd->bshd", ds_BHTS, q),
        "dv": np.einsum("bhts,bhtd->bshd", p_BHTS, dy),
    }


# With these inputs sum|q k| scale <= 7 and sum|dp| <= 16; the products and sums after them are of weights p, which sum to 1, with at most 2.
U32, U16 = 2.0**-24, 2.0**-8  # unit roundoff of float32 and of bfloat16

CASE = Case(
    claim="Fused attention passes a gradient to queries, keys and values.",
    failure="missing-gradient",
    tol={
        "float32": Tol(
            rtol=0.0,
            atol=4000 * U32,
            why="scores: 9 roundings of at most 7, through exp 63 u of p; p: 10 u; dp: 9 u; the difference of at most 16 of these: 16 * 82 u = 1300 u; "
            "times at most 2, and half as much again for the sums over keys and queries",
        )
    },
    tracker={
        "candle": "cpu_flash_attention and attention::flash_attn make a new tensor that no graph knows: no ticket known",
    },
    guards="trainer/attention.py",
    items={
        "full": Item(claim="Every query sees every key.", inputs=crossed, reference=full),
        "causal": Item(claim="A query sees the keys up to its own position.", inputs=square, reference=causal),
        "masked": Item(claim="A mask given as a tensor: causal, with a window of three.", inputs=square, reference=masked),
        "cuda": Item(
            device="cuda",
            claim="The kernel for CUDA, causal.",
            inputs=square,
            reference=causal,
            tol={
                "bfloat16": Tol(
                    rtol=0.0,
                    atol=12 * U16,
                    why="sums in float32; p, y, ds and the results are rounded to bfloat16. y: 2 u sum|p v| = 4 u; dv: 2 u sum|p dy| = 8 u; dq and dk: y's "
                    "rounding in sum(dy y), which is at most 10, ds's and the result's: with these inputs 8 u and 12 u",
                )
            },
        ),
    },
)
