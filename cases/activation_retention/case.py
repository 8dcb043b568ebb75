"""What forty micro-batches leave in memory: gradients are summed and nothing else is kept; careful that the sums are right first.

A gradient that still holds the graph it came from keeps the activations of its micro-batch alive as long as the sum is.
"""

import numpy as np

from harness.case import Case, Limit, Timing, Tol, close
from harness.inputs import normal

STEPS, ROWS, WIDTH = 40, 128, 256


def inputs(rng):
    return {
        "x": normal(rng, ROWS, WIDTH),
        "w1": normal(rng, WIDTH, WIDTH, scale=WIDTH**-0.5),
        "w2": normal(rng, WIDTH, WIDTH, scale=WIDTH**-0.5),
        "dy": normal(rng, ROWS, WIDTH),
    }


def reference(x, w1, w2, dy):
    """Every micro-batch is the same one: the sum is forty times its gradient."""
    h = np.tanh(x @ w1)
    dh = (dy @ w2.T) * (1 - h * h)
    return {"y": h @ w2, "dw1": STEPS * (x.T @ dh), "dw2": STEPS * (h.T @ dy)}


# In arrays of x's size (the weights are two of them each, the inputs six): leaves 4, sums 4, the new sums while the old ones are there 4; a
# micro-batch has h before and after tanh, y, y dy, and of each a gradient, made as zeros and added to: 4 + 8, and the weights' gradients likewise: 8.
MEMORY_RATIO = Limit(
    quantity="memory_ratio",
    absolute=12.0,
    why="32 arrays of x's size by count are 5.3 x the inputs; forty micro-batches that leave their weights' gradients behind add 4 arrays each, 27 x, 32 x in "
    "all, and those that leave their activations too, more. The limit is the geometric mean of 5.3 and of what is added, 12: an allocator may hold twice "
    "what is counted (1 to 8.1 x was measured where nothing is kept, 80 x where it is)",
)

CASE = Case(
    claim="Summing gradients over forty micro-batches keeps the sums and nothing else.",
    failure="speed",
    inputs=inputs,
    reference=reference,
    tol={
        "float32": Tol(
            rtol=2e-5,
            atol=2e-5,
            why="y, elementwise: two sums of 256 random terms of size 1/16, each off by about sqrt(256) u of at most 4, and four standard deviations",
        )
    },
    checks=[
        close("y"),
        *(
            close(
                name,
                norm="normwise",
                tol={
                    "float32": Tol(
                        rtol=2e-5,
                        atol=0.0,
                        why="normwise: sums of 256 and 128 random terms, sqrt(K) u each, and 40 additions: 40 u; 5 x in reserve",
                    )
                },
            )
            for name in ("dw1", "dw2")
        ),
    ],
    batch=("x", "dy"),
    explained={"bfloat16 accumulator@float32": "numpy multiplies bfloat16 matrices into float32: nothing of this mutant is narrow"},
    timing=Timing(
        shape=f"{STEPS} micro-batches of {ROWS} x {WIDTH}, two weights {WIDTH} x {WIDTH}",
        flops={"forward": 4 * ROWS * WIDTH * WIDTH, "step": STEPS * 10 * ROWS * WIDTH * WIDTH},
        limits=(MEMORY_RATIO,),
    ),
    tracker={
        "candle": "a gradient keeps the graph of the operations that made it: https://github.com/huggingface/candle/issues/1241 (open), "
        "https://github.com/huggingface/candle/pull/3508 (open) detaches earlier, https://github.com/huggingface/candle/pull/3482 (open) offers an accumulator",
    },
    guards="the trainer's gradient accumulation",
)
