"""The gradient of rotary embedding with tables that the caller makes, positions offset; careful that no row stands at position 0, where nothing turns.

rope_axis asks which axis is time; here it is always the right one, and the tables are inputs, as candle's operators take them.
"""

import ml_dtypes
import numpy as np

from harness.case import Absent, Case, Item, Tol
from harness.inputs import grid

FIRST = 3  # the position of the first row, as in a chunk of a longer text


def _tables(rng):  # noqa: ARG001  a formula
    angle_TD = np.outer(np.arange(FIRST, FIRST + 4), 10_000.0 ** (-np.arange(0, 8, 2) / 8))
    # Rounded to bfloat16, which every type holds: what is asked is the rotation, not the tables.
    return {name: f(angle_TD).astype(ml_dtypes.bfloat16).astype(np.float64) for name, f in (("cos", np.cos), ("sin", np.sin))}


def heads_first(rng):
    return {"q": grid(rng, 2, 3, 4, 8), "dy": grid(rng, 2, 3, 4, 8), **_tables(rng)}  # BHTD, tables T D/2


def time_first(rng):
    return {"q": grid(rng, 2, 4, 3, 8), "dy": grid(rng, 2, 4, 3, 8), **_tables(rng)}  # BTHD


def half_split(q, dy, cos, sin):
    return {"y": _halves(q, cos, sin), "dq": _halves(dy, cos, -sin)}


def interleaved(q, dy, cos, sin):
    return {"y": _neighbours(q, cos, sin), "dq": _neighbours(dy, cos, -sin)}


def half_split_time_first(q, dy, cos, sin):
    cos, sin = cos[:, None], sin[:, None]
    return {"y": _halves(q, cos, sin), "dq": _halves(dy, cos, -sin)}


def _halves(x, cos, sin):
    """A linear map; its gradient is its transpose: the same with -sin."""
    a, b = np.split(x, 2, axis=-1)
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


def _neighbours(x, cos, sin):
    a, b = x[..., 0::2], x[..., 1::2]
    return np.stack([a * cos - b * sin, b * cos + a * sin], axis=-1).reshape(x.shape)


# An element is a cos - b sin with |a|, |b| <= 2: |a cos| + |b sin| < 3.
UNIT = {"float64": 2.0**-53, "float32": 2.0**-24, "bfloat16": 2.0**-8}

ONE_PAIRING = {
    "trainer": Absent(
        names=("trainer.model.rotate_interleaved", "trainer.model.rotate_neighbours"),
        why="the trainer turns pairs (i, i + D/2) only, as the weights it exports expect",
    )
}

CASE = Case(
    claim="Rotary embedding passes a gradient to what it turns.",
    failure="missing-gradient",
    tol={d: Tol(rtol=0.0, atol=3 * u * 3, why="two products and their sum: 3 roundings of at most 3") for d, u in UNIT.items()},
    batch=("q", "dy"),
    tracker={
        "candle": "https://github.com/huggingface/candle/issues/3568 (open), fix proposed in https://github.com/huggingface/candle/pull/3612 (open); "
        "rope_slow and rope_i_slow have a gradient",
        "mlx": "mx.fast.rope makes its own tables: rope_axis asks it",
        "burn": "RotaryEncoding makes its own tables: rope_axis asks it",
    },
    explained={"bfloat16 accumulator@bfloat16": "two products and a sum: no accumulator to speak of"},
    compiled=("float32",),
    limit_s=300.0,  # torch.compile from a cold cache took 15 s of CPU, which was more than a minute at a load of 12 on two cores
    guards="the trainer's attention",
    items={
        "half_split": Item(claim="Pairs (i, i + D/2) of [batch, heads, time, width].", inputs=heads_first, reference=half_split),
        "interleaved": Item(
            claim="Pairs (2i, 2i + 1) of [batch, heads, time, width].", inputs=heads_first, reference=interleaved, absent=ONE_PAIRING
        ),
        "half_split_time_first": Item(
            claim="Pairs (i, i + D/2) of [batch, time, heads, width].", inputs=time_first, reference=half_split_time_first
        ),
    },
)
