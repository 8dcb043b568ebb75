"""Softmax over the last axis, forward and backward; careful that dy is no constant: the gradient of a softmax's plain sum is zero."""

import numpy as np

from harness.case import Case, Tol, close
from harness.inputs import grid


def inputs(rng):
    return {"x": grid(rng, 2, 3, 5, 8), "dy": grid(rng, 2, 3, 5, 8)}  # BHTS


def reference(x, dy):
    e_BHTS = np.exp(x - np.max(x, axis=-1, keepdims=True))
    y_BHTS = e_BHTS / np.sum(e_BHTS, axis=-1, keepdims=True)
    return {"y": y_BHTS, "dx": y_BHTS * (dy - np.sum(dy * y_BHTS, axis=-1, keepdims=True))}


# With these inputs y (|dy| + sum|dy y|), which bounds every term of dx, is at most 2.
U32, U16 = 2.0**-24, 2.0**-8  # unit roundoff of float32 and of bfloat16
FLOAT32 = "exp: 2 roundings, the sum of 8: 7, the quotient: 1; 10 of y <= 1, used twice in dx beside the sum of 8 and two operations"

CASE = Case(
    claim="Softmax passes a gradient to its input.",
    failure="missing-gradient",
    inputs=inputs,
    reference=reference,
    checks=(
        close(
            "y",
            tol={
                "float64": Tol(rtol=0.0, atol=10 * U32, why=f"float32's: mlx takes exp of float64 in float32; {FLOAT32}"),
                "float32": Tol(rtol=0.0, atol=10 * U32, why=FLOAT32),
                "bfloat16": Tol(
                    rtol=0.0, atol=6 * U16, why="exp, a pairwise sum of 8 (3), the quotient and the result in bfloat16: 6 of y <= 1"
                ),
            },
        ),
        close("dx"),
    ),
    tol={
        "float64": Tol(rtol=0.0, atol=30 * U32 * 2, why=f"float32's: mlx takes exp of float64 in float32; {FLOAT32}: 30 of at most 2"),
        "float32": Tol(rtol=0.0, atol=30 * U32 * 2, why=f"{FLOAT32}: 30 of at most 2"),
        "bfloat16": Tol(
            rtol=0.0,
            atol=4 * U16 * 2,
            why="a composed path rounds y, dy y and their sum to bfloat16, and the result is rounded: 4 roundings of at most 2",
        ),
    },
    batch=("x", "dy"),
    tracker={
        "candle": "softmax_last_dim: https://github.com/huggingface/candle/issues/3569; fixes proposed in https://github.com/huggingface/candle/pull/3591, "
        "https://github.com/huggingface/candle/pull/3724 and https://github.com/huggingface/candle/pull/3823. softmax of the last axis is right",
    },
    explained={
        "bfloat16 accumulator@bfloat16": "sums of 8 terms: a bfloat16 accumulator loses no more than rounding y does; bf16_divergence has long sums",
    },
    compiled=("float32",),
    limit_s=300.0,  # torch.compile from a cold cache took 15 s of CPU, which was more than a minute at a load of 12 on two cores
    guards="the trainer's attention",
)
