"""What one softmax and its gradient hold in memory at their peak; careful that the numbers are right before their price is looked at.

The size is that of the scores of eight heads over 256 tokens; softmax_masked_row has the rows that make a softmax not a number.
"""

import numpy as np

from harness.case import Case, Limit, Timing, Tol
from harness.inputs import normal

HEADS, TIME = 8, 256


def inputs(rng):
    return {"x": normal(rng, HEADS, TIME, TIME), "dy": normal(rng, HEADS, TIME, TIME)}


def reference(x, dy):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    y = e / np.sum(e, axis=-1, keepdims=True)
    return {"y": y, "dx": y * (dy - np.sum(dy * y, axis=-1, keepdims=True))}


# The inputs are two arrays of x's size. Fused: y, dx, and one in flight: 1.5 x. Nothing fused: a leaf made of x; x - max, its exp, y and y dy; a
# gradient for each of these four, for x, dy and the two broadcasts (max, sum); three in flight, of the quotient's: 1 + 4 + 8 + 3 = 16 arrays, 8 x.
MEMORY_RATIO = Limit(
    quantity="memory_ratio",
    absolute=12.0,
    why="16 arrays of x's size where nothing is fused, half as much again for an allocator: 24, 12 x the inputs. Measured on a warm call",
)

CASE = Case(
    claim="A softmax and its gradient hold a few arrays of their input's size, and are right.",
    failure="speed",
    inputs=inputs,
    reference=reference,
    tol={
        "float32": Tol(
            rtol=0.0,
            atol=300 * 2.0**-24,
            why="exp and the quotient: 4 u of y; a sum of 256 in any order: 256 u at most; dy y of at most 4.5, summed with weights that sum to 1; "
            "y is at most 0.2, so that 300 u covers 2 * 260 u * 4.5 * 0.2 with what remains",
        )
    },
    timing=Timing(
        shape=f"heads={HEADS} T={TIME}",
        flops={"forward": 5 * HEADS * TIME * TIME, "step": 9 * HEADS * TIME * TIME},
        limits=(MEMORY_RATIO,),
    ),
    tracker={
        "candle": "softmax_last_dim is fused and has no gradient (softmax_backward); softmax is made of five operations: "
        "https://github.com/huggingface/candle/pull/3591 and https://github.com/huggingface/candle/pull/3724 propose a backward",
    },
    guards="the trainer's attention",
)
