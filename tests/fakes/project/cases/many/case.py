"""Twelve rows of one question: enough cells for a run that can be killed in its middle."""

from harness.case import Case, Item, Tol
from harness.inputs import grid


def inputs(rng):
    return {"x": grid(rng, 2, 5)}


def reference(x):
    return {"y": x * x, "dx": 2 * x}


CASE = Case(
    claim="A square has twice its root as gradient.",
    failure="wrong-gradient",
    inputs=inputs,
    reference=reference,
    tol={d: Tol(rtol=r, atol=0.0, why="one product") for d, r in (("float64", 1e-15), ("float32", 1e-6))},
    batch=("x",),
    items={f"row{n:02}": Item() for n in range(12)},
)
