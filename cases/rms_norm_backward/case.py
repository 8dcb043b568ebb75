"""RMSNorm, forward and backward; careful that epsilon shows: one row of x is so small that epsilon is a third of its mean square."""

import numpy as np

from harness.case import Case, Tol, close
from harness.inputs import grid

EPS = 1e-5


def inputs(rng):
    x_BTD, w_D, dy_BTD = grid(rng, 2, 3, 16), grid(rng, 16), grid(rng, 2, 3, 16)
    # dy shrinks with x, so that dx of this row is as large as the others'.
    x_BTD[1, 2] *= 2.0**-8
    dy_BTD[1, 2] *= 2.0**-8
    return {"x": x_BTD, "w": w_D, "dy": dy_BTD}


def reference(x, w, dy):
    r_BT1 = 1 / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + EPS)
    n_BTD = x * r_BT1
    dn_BTD = dy * w
    dx_BTD = r_BT1 * (dn_BTD - n_BTD * np.mean(dn_BTD * n_BTD, axis=-1, keepdims=True))
    return {"y": n_BTD * w, "dx": dx_BTD, "dw": np.sum(dy * n_BTD, axis=(0, 1))}


# With these inputs |dn| r + |n| r mean|dn n|, which bounds every term of dx, is at most 5, and sum|dy n|, which bounds dw, at most 8.
U32, U16 = 2.0**-24, 2.0**-8  # unit roundoff of float32 and of bfloat16

CASE = Case(
    claim="RMSNorm passes a gradient to its input and to its weight.",
    failure="missing-gradient",
    inputs=inputs,
    reference=reference,
    checks=(
        close("y"),
        close("dx"),
        close(
            "dw",
            tol={
                "bfloat16": Tol(
                    rtol=0.0,
                    atol=8 * U16 * 8,
                    why="n and dy n rounded to bfloat16, then six of them summed in it: 8 roundings of at most 8",
                )
            },
        ),
    ),
    tol={
        "float64": Tol(
            rtol=0.0,
            atol=140 * U32,
            why="float32's: mlx and Burn take the mean of float64 in float32, candle its epsilon; this row asks for the gradient, not for that",
        ),
        "float32": Tol(
            rtol=0.0,
            atol=140 * U32,
            why="16 roundings in the sum over D, 4 of n (used twice: 8), 4 in what remains, on terms of at most 5: 28 * 5",
        ),
        "bfloat16": Tol(
            rtol=0.0,
            atol=2 * U16 * 5,
            why="accumulated in float32; a composed path rounds n or dn to bfloat16, and the result is rounded: 2 roundings of at most 5",
        ),
    },
    batch=("x", "dy"),
    tracker={
        "candle": "https://github.com/huggingface/candle/issues/2168 (open); fix proposed in https://github.com/huggingface/candle/pull/3526 (open)",
        "paddle": "its fused norm has no backward for a CPU and says so. composed, compiled: under to_static the gradient of a detached tensor that is "
        "used twice is that of one use (`clone` is the control): no report found",
        "burn": "0.16.1 and 0.18.0 cut the mean square from the graph, 0.20.1 is right; no ticket known",
    },
    explained={
        "bfloat16 accumulator@bfloat16": "sums of 16 and of 6 terms: a bfloat16 accumulator loses no more than rounding n or dn does; "
        "long sums in low precision are cases of their own",
    },
    compiled=("float32",),
    limit_s=300.0,  # torch.compile from a cold cache took 15 s of CPU, which was more than a minute at a load of 12 on two cores
    guards="every norm of the trainer's model",
)
