"""Rotary embedding by position in time; careful that heads, time and width differ in size, so that no axis can stand in for another."""

import numpy as np

from harness.case import Absent, Case, Documented, Item, Tol
from harness.inputs import grid

BASE = 10_000.0


def heads_first(rng):
    return {"q": grid(rng, 2, 3, 4, 8), "dy": grid(rng, 2, 3, 4, 8)}  # BHTD


def time_first(rng):
    return {"q": grid(rng, 2, 4, 3, 8), "dy": grid(rng, 2, 4, 3, 8)}  # BTHD


def half_split(q, dy):
    return _both(q, dy, axis=2, pairs=_halves)


def interleaved(q, dy):
    return _both(q, dy, axis=2, pairs=_neighbours)


def half_split_time_first(q, dy):
    return _both(q, dy, axis=1, pairs=_halves)


def interleaved_time_first(q, dy):
    return _both(q, dy, axis=1, pairs=_neighbours)


def _both(q, dy, axis, pairs):
    """The rotation is orthogonal: its gradient is the rotation back."""
    return {"y": _rotate(q, axis, pairs, 1.0), "dq": _rotate(dy, axis, pairs, -1.0)}


def _rotate(x, axis, pairs, sign):
    """Turn pair i of the last axis at index p of ``axis`` by p * BASE**(-2i/D)."""
    d = x.shape[-1]
    angle = np.outer(np.arange(x.shape[axis]), BASE ** (-np.arange(0, d, 2) / d)) * sign
    shape = [1] * x.ndim
    shape[axis], shape[-1] = angle.shape
    cos, sin = np.cos(angle).reshape(shape), np.sin(angle).reshape(shape)
    first, second = pairs(d)
    a, b = x[..., first], x[..., second]
    y = np.empty_like(x)
    y[..., first], y[..., second] = a * cos - b * sin, b * cos + a * sin
    return y


def _halves(d):
    return np.arange(d // 2), np.arange(d // 2, d)


def _neighbours(d):
    return np.arange(0, d, 2), np.arange(1, d, 2)


# An element is a cos - b sin with |a|, |b| <= 2: |a cos| + |b sin| < 3. Angles reach 3 rad, and 0.3 rad where the frequency is not exactly 1.
U32, U16 = 2.0**-24, 2.0**-8  # unit roundoff of float32 and of bfloat16
FLOAT32 = 24 * U32

_MLX_LINK = "https://ml-explore.github.io/mlx/build/html/python/_autosummary/mlx.core.fast.rope.html"
_MLX_WHY = "mx.fast.rope documents its input as (B, *, T, D): the last axis but one is time, whatever the caller keeps there"
_BURN_LINK = "burn-nn src/modules/rope_encoding.rs, documentation of RotaryEncoding::forward"
_BURN_WHY = "RotaryEncoding::forward documents its input as (batch size, num_heads, seq_len, hidden_dim): the last axis but one is time"

# torch.onnx.ops.rotary_embedding is made for export: it raises under autograd and by a shape check, so no training run meets it.
NO_OPERATOR = {
    "torch": Absent(
        names=("torch.rope", "torch.nn.functional.rope", "torch.nn.functional.rotary_embedding", "torch.nn.RotaryEmbedding"),
        why="torch has no rotary operator for training whose axis could be mistaken: its users write the formula",
    ),
    "jax": Absent(
        names=("jax.nn.rope", "jax.nn.rotary_embedding", "jax.nn.apply_rotary_embedding"),
        why="jax has no rotary operator whose axis could be mistaken: its users write the formula",
    ),
    "tensorflow": Absent(
        names=("keras.layers.RotaryEmbedding", "keras.ops.rotary_embedding", "keras.ops.rope", "tensorflow.nn.rotary_embedding"),
        why="neither tensorflow nor keras has a rotary operator whose axis could be mistaken: their users write the formula",
    ),
    "tinygrad": Absent(
        names=("tinygrad.Tensor.rope", "tinygrad.Tensor.rotary_embedding", "tinygrad.nn.RoPE", "tinygrad.nn.RotaryEmbedding"),
        why="tinygrad has no rotary operator, only its LLM example has a function: its users write the formula",
    ),
}

ONE_PAIRING = {
    "trainer": Absent(
        names=("trainer.model.rotate_interleaved", "trainer.model.rotate_neighbours"),
        why="the trainer turns pairs (i, i + D/2) only, as the weights it exports expect",
    )
}

CASE = Case(
    claim="Rotary embedding turns each pair of channels by its position in time, and turns the gradient back.",
    failure="axis",
    tol={
        "float64": Tol(
            rtol=0.0,
            atol=FLOAT32,
            why="float32's: the tables are float32 by design in Burn (theta), in mlx.fast and in what users write; this row asks for the axis",
        ),
        "float32": Tol(
            rtol=0.0,
            atol=FLOAT32,
            why="cos and sin off by at most 4.5 u (the angle, from exp(-2.3) or pow times 3: 2.5; the function: 2), times |a| + |b| <= 4; "
            "the products and the sum: 2 u of at most 3",
        ),
        "bfloat16": Tol(rtol=0.0, atol=9 * U16, why="cos and sin rounded to bfloat16, the products, and the sum: 3 roundings of at most 3"),
    },
    batch=("q", "dy"),
    tracker={
        "candle": "rope, rope_i, rope_thd have no backward: https://github.com/huggingface/candle/issues/3568 (open), "
        "fix proposed in https://github.com/huggingface/candle/pull/3612 (open). rope_i on [batch, time, heads, width] turns by the head's index; "
        "neither its signature nor its documentation names the axes, and there is no rope_i for that layout: no ticket known",
        "burn": "no ticket known; the axis is documented",
    },
    guards="the trainer's attention",
    items={
        "half_split": Item(
            claim="Pairs (i, i + D/2) of [batch, heads, time, width] turn by their position in time, and so does the gradient, back.",
            inputs=heads_first,
            reference=half_split,
        ),
        "interleaved": Item(
            claim="Pairs (2i, 2i + 1) of [batch, heads, time, width] turn by their position in time, and so does the gradient, back.",
            inputs=heads_first,
            reference=interleaved,
            absent=ONE_PAIRING,
        ),
        "half_split_time_first": Item(
            claim="Given [batch, time, heads, width], the rotary operator for pairs (i, i + D/2) turns by time or refuses, and never by the head's index.",
            inputs=time_first,
            reference=half_split_time_first,
            absent=NO_OPERATOR,
            documented={"mlx": Documented(reference=half_split, link=_MLX_LINK, why=_MLX_WHY)},
        ),
        "interleaved_time_first": Item(
            claim="Given [batch, time, heads, width], the rotary operator for pairs (2i, 2i + 1) turns by time or refuses, and never by the head's index.",
            inputs=time_first,
            reference=interleaved_time_first,
            absent=NO_OPERATOR | ONE_PAIRING,
            documented={
                "mlx": Documented(reference=interleaved, link=_MLX_LINK, why=_MLX_WHY),
                "burn": Documented(reference=interleaved, link=_BURN_LINK, why=_BURN_WHY),
            },
        ),
    },
)
