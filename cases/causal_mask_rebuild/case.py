"""A causal mask and a mask of a window, built at each step or kept; careful that the masks themselves are right, the window's far edge included.

`forward` is given both masks, as a model keeps them; `step` builds them, and does the same with them.
"""

import numpy as np

from harness.case import Case, Limit, Timing, Tol
from harness.inputs import normal

HEADS, TIME, WINDOW = 4, 256, 64


def inputs(rng):
    causal = np.where(np.tri(TIME, dtype=bool), 0.0, -np.inf)
    window = np.where(np.tri(TIME, dtype=bool) & ~np.tri(TIME, k=-WINDOW, dtype=bool), 0.0, -np.inf)
    return {"x": normal(rng, HEADS, TIME, TIME), "causal": causal, "window": window}


def reference(x, causal, window):
    """Probabilities under either mask."""
    return {"y_causal": _softmax(x + causal), "y_window": _softmax(x + window)}


def _softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


STEP_RATIO = Limit(
    quantity="step_ratio",
    absolute=2.0,
    why="a mask is T x T numbers, a comparison and a choice each; its use is four heads of T x T, each an addition, a maximum, a subtraction, an exp, a "
    "sum and a quotient: 24 passes of T x T. A rebuild of 4 passes costs a sixth; one that costs as much as the softmax itself is six times that",
)

CASE = Case(
    claim="Building the masks of a step costs less than using them, and a window ends where it should.",
    failure="speed",
    inputs=inputs,
    reference=reference,
    tol={
        "float32": Tol(
            rtol=300 * 2.0**-24,
            atol=0.0,
            why="x - max and its exp: 12 u of y (scores within 10); a sum of 256 in any order: 256 u; the quotient: 1; zeros are exact",
        )
    },
    timing=Timing(
        shape=f"heads={HEADS} T={TIME} window={WINDOW}",
        flops={"forward": 12 * HEADS * TIME * TIME, "step": 12 * HEADS * TIME * TIME + 6 * TIME * TIME},
        limits=(STEP_RATIO,),
    ),
    tracker={"candle": "no ticket known; its examples build the mask from a vector and keep it by length"},
    guards="trainer/attention.py",
)
