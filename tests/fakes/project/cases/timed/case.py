"""A product and its gradient, timed: the healthy one, a slow backward, a hungry one and a wrong one."""

from harness.case import Case, Limit, Timing, Tol, close
from harness.inputs import grid

N = 256  # so that the microseconds of a woken process weigh nothing beside a product


def inputs(rng):
    return {"x": grid(rng, N, N), "w": grid(rng, N, N), "dy": grid(rng, N, N)}


def reference(x, w, dy):
    return {"y": x @ w, "dx": dy @ w.T, "dw": x.T @ dy}


def gemm(rng):
    return {"a": grid(rng, N, N), "b": grid(rng, N, N)}


FLOAT32 = {"float32": Tol(rtol=1e-5, atol=0.0, why="sums of 256 products in float32, normwise")}

CASE = Case(
    claim="A product's backward costs about twice its forward.",
    failure="speed",
    inputs=inputs,
    reference=reference,
    tol=FLOAT32,
    checks=tuple(close(name, norm="normwise") for name in ("y", "dx", "dw")),
    timing=Timing(
        shape=f"{N} x {N}",
        flops={"forward": 2.0 * N**3, "step": 6.0 * N**3, "gemm": 2.0 * N**3},
        extra_inputs={"gemm": gemm},
        tokens=N,
        limits=(
            Limit(quantity="backward_ratio", factor=5.0, absolute=20.0, why="planted: 100 times"),
            Limit(quantity="memory_ratio", absolute=40.0, why="planted: 64 MB beside 0.8 MB"),
        ),
    ),
    limit_s=20.0,
)
