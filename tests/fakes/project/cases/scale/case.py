"""y = w * x, with its gradients: small enough that every lie of the fakes is told by the harness, not by the mathematics."""

from harness.case import Case, Tol
from harness.inputs import grid


def inputs(rng):
    return {"x": grid(rng, 2, 3, 4), "w": grid(rng, 4), "dy": grid(rng, 2, 3, 4)}


def reference(x, w, dy):
    return {"y": x * w, "dx": dy * w, "dw": (dy * x).sum((0, 1))}


CASE = Case(
    claim="A scaled tensor has a gradient for its input and for its weight.",
    failure="missing-gradient",
    inputs=inputs,
    reference=reference,
    tol={"float32": Tol(rtol=1e-6, atol=1e-6, why="a product and a sum of six terms in float32")},
    batch=("x", "dy"),
    limit_s=2.0,
    limit_gb=0.25,
)
