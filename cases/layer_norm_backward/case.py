"""LayerNorm, forward and backward; careful that epsilon shows: one row of x is so small that epsilon is three quarters of its variance."""

import numpy as np

from harness.case import Case, Tol, close
from harness.inputs import grid

EPS = 1e-5


def inputs(rng):
    x_BTD, w_D, b_D, dy_BTD = grid(rng, 2, 3, 16), grid(rng, 16), grid(rng, 16), grid(rng, 2, 3, 16)
    # dy shrinks with x, so that dx of this row is as large as the others'.
    x_BTD[1, 2] *= 2.0**-8
    dy_BTD[1, 2] *= 2.0**-8
    return {"x": x_BTD, "w": w_D, "b": b_D, "dy": dy_BTD}


def reference(x, w, b, dy):
    centred = x - np.mean(x, axis=-1, keepdims=True)
    r_BT1 = 1 / np.sqrt(np.mean(centred**2, axis=-1, keepdims=True) + EPS)
    n_BTD = centred * r_BT1
    dn_BTD = dy * w
    dx_BTD = r_BT1 * (dn_BTD - np.mean(dn_BTD, axis=-1, keepdims=True) - n_BTD * np.mean(dn_BTD * n_BTD, axis=-1, keepdims=True))
    return {"y": n_BTD * w + b, "dx": dx_BTD, "dw": np.sum(dy * n_BTD, axis=(0, 1)), "db": np.sum(dy, axis=(0, 1))}


# With these inputs r (|dn| + mean|dn| + |n| mean|dn n|), which bounds every term of dx, is at most 6, sum|dy n|, which bounds dw, at most 7,
# sum|dy|, which bounds db, at most 9, and |n w| + |b| at most 5.
U32, U16 = 2.0**-24, 2.0**-8  # unit roundoff of float32 and of bfloat16
SUMS = {
    "bfloat16": Tol(
        rtol=0.0, atol=8 * U16 * 9, why="n and dy n rounded to bfloat16, then six of them summed in it: 8 roundings of at most 9"
    )
}

CASE = Case(
    claim="LayerNorm passes a gradient to its input, to its weight and to its bias.",
    failure="missing-gradient",
    inputs=inputs,
    reference=reference,
    checks=(close("y"), close("dx"), close("dw", tol=SUMS), close("db", tol=SUMS)),
    tol={
        "float64": Tol(
            rtol=0.0,
            atol=276 * U32,
            why="float32's: mlx and Burn take means of float64 in float32, candle its epsilon; this row asks for the gradient, not for that",
        ),
        "float32": Tol(
            rtol=0.0,
            atol=276 * U32,
            why="16 roundings in each of two sums over D, 5 of n (used twice: 10), 4 in what remains, on terms of at most 6: 46 * 6",
        ),
        "bfloat16": Tol(
            rtol=0.0,
            atol=3 * U16 * 6,
            why="accumulated in float32; a composed path rounds n or dn and n w to bfloat16, and the result is rounded: 3 roundings of at most 6",
        ),
    },
    batch=("x", "dy"),
    tracker={
        "candle": "https://github.com/huggingface/candle/issues/2977 and https://github.com/huggingface/candle/issues/3011 (open); fixes proposed in "
        "https://github.com/huggingface/candle/pull/3012, https://github.com/huggingface/candle/pull/3613 and "
        "https://github.com/huggingface/candle/pull/3823 (open)",
    },
    explained={
        "bfloat16 accumulator@bfloat16": "sums of 16 and of 6 terms: a bfloat16 accumulator loses no more than rounding n or dn does; "
        "long sums in low precision are cases of their own",
    },
    compiled=("float32",),
    limit_s=300.0,  # torch.compile from a cold cache took 15 s of CPU, which was more than a minute at a load of 12 on two cores
)
