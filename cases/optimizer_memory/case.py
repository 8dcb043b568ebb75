"""What forty steps of AdamW hold in memory, beside what one step does; careful that the steps are right first.

`forward` is one step, `step` forty. The loss is sum(w^2 g) / 2: its gradient, w g, is made of the weight, so that a framework whose gradients keep
the graph they came from keeps it in a moment too (candle's variant `handwritten`).
"""

import numpy as np

from harness.case import Case, Limit, Timing, Tol
from harness.inputs import grid

STEPS, SIZE = 40, 512
LR, BETAS, EPS, DECAY = 2.0**-10, (0.9, 0.999), 1e-8, 0.125


def inputs(rng):
    return {"w": grid(rng, SIZE, SIZE), "g": grid(rng, SIZE, SIZE)}


def reference(w, g):
    """Decoupled decay (Loshchilov and Hutter)."""
    m, v, rest1, rest2 = np.zeros_like(g), np.zeros_like(g), w.dtype.type(1 - BETAS[0]), w.dtype.type(1 - BETAS[1])
    for step in range(1, STEPS + 1):
        dw = w * g
        m, v = m + rest1 * (dw - m), v + rest2 * (dw * dw - v)
        m_hat, v_hat = m / w.dtype.type(1 - BETAS[0] ** step), v / w.dtype.type(1 - BETAS[1] ** step)
        w = w * w.dtype.type(1 - LR * DECAY) - w.dtype.type(LR) * m_hat / (np.sqrt(v_hat) + w.dtype.type(EPS))
    return {"after": w}


# In arrays of the weight's size one step holds 16 by count: the weight, two moments, a gradient and what an unfused step has in flight. Forty steps
# that leave the least behind, one array each, add 39.
MEMORY_GROWTH = Limit(
    quantity="memory_growth",
    absolute=2.5,
    why="forty steps hold what one does; one array left behind a step makes (16 + 39) / 16 = 3.4 of one step's memory, and more where a step holds fewer "
    "than 16. The limit is the geometric mean of 3.4 and of 1.8, which an allocator made of it where nothing is kept",
)

CASE = Case(
    claim="Forty steps of AdamW hold the memory of one.",
    failure="speed",
    inputs=inputs,
    reference=reference,
    tol={
        "float32": Tol(
            rtol=0.0,
            atol=STEPS * (2.0**-24 * 2 * 2.5 + 2.0**-10 * 2300 * 2.0**-24),
            why="each of 40 steps rounds a weight of at most 2.5 twice, and moves it by 2^-10 that is off by half of the 1000 u that 1 - 0.999 loses in "
            "float32, by 100 u of its own, and by 1700 u of a gradient whose weight, of at least 1/8, is off by 40 * 5 u",
        )
    },
    timing=Timing(
        shape=f"{STEPS} steps of AdamW on {SIZE} x {SIZE}",
        flops={"forward": 18 * SIZE * SIZE, "step": STEPS * 18 * SIZE * SIZE},
        limits=(MEMORY_GROWTH,),
    ),
    tracker={
        "candle": "https://github.com/huggingface/candle/issues/1241 (open), https://github.com/huggingface/candle/pull/3508 (open): `handwritten`, "
        "whose moments are tensors and no variables",
    },
    guards="trainer/optim.py",
)
