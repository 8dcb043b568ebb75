"""128 residual blocks, three steps of SGD through all of them: a graph deep enough for a fused backend to build long kernels, or to die of its depth.

Block i: x <- x + tanh(x w_i) / 16, w_i [in, out]; loss = mean((x - target)^2). Losses and the weights after three steps, against float64. The
branch's factor keeps the stack's gain near 1, so that 128 rounding errors add up and are not amplified.
"""

import numpy as np

from harness.case import Case, Tol, close
from harness.inputs import grid, normal

DEPTH, WIDTH, ROWS, STEPS, LR, BRANCH = 128, 32, 8, 3, 2.0, 2.0**-4


def inputs(rng):
    return {"x": grid(rng, ROWS, WIDTH), "target": grid(rng, ROWS, WIDTH), "w": normal(rng, DEPTH, WIDTH, WIDTH, scale=WIDTH**-0.5)}


def reference(x, target, w):
    losses, w = [], w.copy()
    for _ in range(STEPS):
        states, branches = [x], []
        for i in range(DEPTH):
            branches.append(np.tanh(states[-1] @ w[i]))
            states.append(states[-1] + BRANCH * branches[-1])
        error = states.pop() - target
        losses.append(np.mean(error**2))
        d = 2 / error.size * error
        for i in reversed(range(DEPTH)):
            dz = BRANCH * d * (1 - branches[i] ** 2)
            d = d + dz @ w[i].T
            w[i] -= LR * states[i].T @ dz
    return {"losses": np.array(losses), "w": w}


def _tol(u):
    return Tol(
        rtol=3000 * u,
        atol=0.0,
        why="normwise; 128 blocks there and 128 back, each rounding the stream once (u of its size) and adding a sixteenth of a sum of 32 terms "
        "(33 u / 16): 256 * 3 u, of a stream whose gain is at most 4: 3000 u",
    )


CASE = Case(
    claim="A stack of 128 blocks trains: nothing dies, and its losses and weights are right.",
    failure="crash",
    inputs=inputs,
    reference=reference,
    checks=[close("losses", norm="normwise"), close("w", norm="normwise")],
    tol={"float64": _tol(2.0**-53), "float32": _tol(2.0**-24)},
    compiled=("float32",),
    limit_s=300.0,
    tracker={
        "burn": "https://github.com/tracel-ai/burn/issues/4347, with kernel fusion: the columns on wgpu. Right here is a matrix product and "
        "a tanh, 32 wide: it says little of models of billions of parameters"
    },
    guards="trainer/model.py",
)
