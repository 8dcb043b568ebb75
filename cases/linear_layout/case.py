"""A linear layer on a transposed view; careful that every axis has its own size, so that a misread stride changes the numbers."""

import numpy as np

from harness.case import Case, Item, Tol
from harness.inputs import grid


def rank3(rng):
    return {"x": grid(rng, 2, 5, 4), "w": grid(rng, 3, 5), "b": grid(rng, 3), "dy": grid(rng, 2, 4, 3)}  # x BCT, w OC, dy BTO


def rank4(rng):
    return {"x": grid(rng, 2, 3, 5, 4), "w": grid(rng, 6, 5), "b": grid(rng, 6), "dy": grid(rng, 2, 3, 4, 6)}  # x BHCT, dy BHTO


def reference(x, w, b, dy):
    return {
        "y": np.einsum("...ct,oc->...to", x, w) + b,
        "dx": np.einsum("...to,oc->...ct", dy, w),
        "dw": np.einsum("nto,nct->oc", dy.reshape(-1, *dy.shape[-2:]), x.reshape(-1, *x.shape[-2:])),
        "db": np.sum(dy, axis=tuple(range(dy.ndim - 1))),
    }


def _tol(terms, size):
    """``size`` bounds the sum of |a||b| over the ``terms`` products of any output of these inputs."""
    gamma = f"{terms} products and a bias summed in any order: {terms + 1} roundings of at most {size}"
    return {
        "float64": Tol(rtol=0.0, atol=(terms + 1) * 2.0**-53 * size, why=gamma),
        "float32": Tol(rtol=0.0, atol=(terms + 1) * 2.0**-24 * size, why=gamma),
        "bfloat16": Tol(
            rtol=0.0,
            atol=3 * 2.0**-8 * size,
            why="accumulated in float32; rounded as a product, as its sum with the bias or with other rows of the batch, and as the result: "
            f"3 roundings of at most {size}",
        ),
    }


CASE = Case(
    claim="A linear layer on a transposed view gives the numbers of the same layer on a contiguous copy.",
    failure="layout",
    reference=reference,
    tol=_tol(24, 39),
    batch=("x", "dy"),
    tracker={
        "candle": "nn::Linear broadcasts its weight over the batch of a view, and CPU matmul misreads a transposed left side beside a broadcast right side; "
        "https://github.com/huggingface/candle/issues/3744 (open) has the mirrored case, fixes proposed in https://github.com/huggingface/candle/pull/3758 and "
        "https://github.com/huggingface/candle/pull/3960 (open); the layer itself: no ticket known",
    },
    compiled=("float32",),
    limit_s=300.0,  # torch.compile from a cold cache took 15 s of CPU, which was more than a minute at a load of 12 on two cores
    guards="the trainer's projections after a transpose",
    items={"rank3": Item(inputs=rank3, tol=_tol(8, 17)), "rank4": Item(inputs=rank4, tol=_tol(24, 39))},
)
