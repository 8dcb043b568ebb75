"""AdamW under batches of changing length: ten steps of one network whose sequences are 16, 24, 17, 33, 16, 8, 40, 17, 1 and 29 positions long.

y = tanh((x + position) w'), w [out, in], position [40, in]; loss = mean((y - target)^2) over the positions there are. The moments keep the shapes of
the parameters whatever the length: a position beyond the sequence has a gradient of zero, so its moments shrink and its weight decays.

Against float64 after all ten steps, so that a moment which is swapped, reset or laid out anew by a change of length shows in the weights.
"""

import numpy as np

from harness.case import Case, Documented, Tol, close
from harness.complex_step import gradients
from harness.inputs import grid, normal

LENGTHS = (16, 24, 17, 33, 16, 8, 40, 17, 1, 29)
LR, BETA1, BETA2, EPS, DECAY = 2.0**-5, 0.9, 0.999, 1e-8, 2.0**-4


def inputs(rng):
    longest, steps = max(LENGTHS), len(LENGTHS)
    return {
        "x": grid(rng, steps, longest, 6, span=1.0),
        "target": grid(rng, steps, longest, 5, span=0.5),
        "w": normal(rng, 5, 6, scale=0.4),
        "position": normal(rng, longest, 6, scale=0.4),
    }


def loss(x, target, w, position):
    return np.mean((np.tanh((x + position[: len(x)]) @ w.T) - target) ** 2)


def reference(x, target, w, position):
    return trained(x, target, w, position, lambda m, v, t: m / (1 - BETA1**t) / (np.sqrt(v / (1 - BETA2**t)) + EPS))


def with_epsilon_hat(x, target, w, position):
    """Kingma and Ba's second form: epsilon beside the square root of a moment that is not debiased yet."""
    return trained(x, target, w, position, lambda m, v, t: m * np.sqrt(1 - BETA2**t) / (1 - BETA1**t) / (np.sqrt(v) + EPS))


def trained(x, target, w, position, direction):
    p = {"w": w, "position": position}
    m, v = dict.fromkeys(p, 0.0), dict.fromkeys(p, 0.0)
    losses = []
    for i, length in enumerate(LENGTHS):
        batch = {"x": x[i, :length], "target": target[i, :length]}
        losses.append(loss(**batch, **p))
        for name, g in gradients(loss, {**batch, **p}, p).items():
            k = name[1:]
            m[k], v[k] = BETA1 * m[k] + (1 - BETA1) * g, BETA2 * v[k] + (1 - BETA2) * g * g
            p = {**p, k: p[k] * (1 - LR * DECAY) - LR * direction(m[k], v[k], i + 1)}
    return {"losses": np.array(losses), **p}


CASE = Case(
    claim="AdamW's moments stay with their weights when the sequence length changes from step to step.",
    failure="optimizer",
    inputs=inputs,
    reference=reference,
    checks=[close(name, norm="normwise") for name in ("losses", "w", "position")],
    tol={
        dtype: Tol(
            rtol=1e-4,
            atol=0.0,
            why="normwise; a gradient sums at most 200 terms, 200 u of their sizes, and Adam divides it by its own size: where terms cancel 10 x "
            "an element's step is off by 2000 u, and ten of 2^-5 are a third of the weights' size: 700 u = 4e-5, twice that for the gradients that "
            "the moved weights give. u is float32's in float64 too: Burn keeps its betas and decay in float32. A reset or swapped moment is 3 % or more",
        )
        for dtype in ("float64", "float32")
    },
    documented={
        "tensorflow": Documented(
            reference=with_epsilon_hat,
            link="keras 3 (with tensorflow 2.21.0), docstring of AdamW, epsilon: 'This epsilon is epsilon hat in the Kingma and Ba paper'",
            why="epsilon is added before the second moment is debiased, so in the first steps it counts up to 30 times as much",
        )
    },
    tracker={"burn": "reported for dynamic sequence lengths; here also on a fused wgpu backend: no ticket known"},
    guards="trainer/optim.py",
)
