"""A gradient that must flow through an in-place write, a cache, a frozen layer or a gradient; careful that each value is right where its gradient is cut.

Whether a gradient flows does not depend on the type: float32 alone is asked.
"""

import numpy as np

from harness.case import Case, Item, Tol
from harness.inputs import grid


def two_parts(rng):
    return {"a": grid(rng, 2, 3), "b": grid(rng, 2, 5), "dy": grid(rng, 2, 8)}


def joined(a, b, dy):
    return {"y": np.concatenate([a, b], axis=1), "da": dy[:, :3].copy(), "db": dy[:, 3:].copy()}


def masked_inputs(rng):
    return {"x": grid(rng, 4, 5), "w": grid(rng, 5), "dy": grid(rng, 4, 5)}


def masked(x, w, dy):
    """The first row of x w is set to zero: it is a constant then, and its inputs have no part in it."""
    kept = np.array([[0.0], [1], [1], [1]]).astype(dy.dtype)
    return {"y": x * w * kept, "dx": dy * w * kept, "dw": np.sum(dy * x * kept, axis=0)}


def cache_inputs(rng):
    return {"q": grid(rng, 2, 3, 1, 4), "k": grid(rng, 2, 3, 5, 4), "v": grid(rng, 2, 3, 5, 4), "dy": grid(rng, 2, 3, 1, 4)}  # BHTD


def cached(q, k, v, dy):
    """Attention without a softmax: y = (q k') v of all five positions, four of them the prompt's and one the last token's."""
    s, ds = q @ k.swapaxes(2, 3), dy @ v.swapaxes(2, 3)
    return {"y": s @ v, "dq": ds @ k, "dk": ds.swapaxes(2, 3) @ q, "dv": s.swapaxes(2, 3) @ dy}


def quantized_inputs(rng):
    # Whole numbers with a 127 in each block of 32: what eight bits with one scale a block hold exactly, weights and activations alike.
    x, w = rng.integers(-8, 9, size=(3, 32)).astype(float), rng.integers(-8, 9, size=(4, 32)).astype(float)
    x[:, 5], w[:, 9] = 127, 127
    return {"x": x, "w": w, "dy": grid(rng, 3, 4)}


def quantized(x, w, dy):
    return {"y": x @ w.T, "dx": dy @ w}


def penalty_inputs(rng):
    return {"x": grid(rng, 2, 4), "w": grid(rng, 2, 4), "v": grid(rng, 2, 4)}


def penalty(x, w, v):
    """Of f = sum w (x^2)^2: y is its gradient to x, and the second gradient is that of sum v y."""
    return {"y": 4 * w * x**3, "dx": 12 * v * w * x**2, "dw": 4 * v * x**3}


def _tol(roundings, size, what):
    return {"float32": Tol(rtol=0.0, atol=roundings * 2.0**-24 * size, why=f"{what}: {roundings} roundings of at most {size}")}


_EXACT = "nothing is computed; one rounding is allowed"
_CANDLE_SLICE = "documented at Tensor::slice_set as not compatible with back-propagation; nothing is raised"

CASE = Case(
    claim="A gradient flows through what the forward went through, or the framework refuses.",
    failure="missing-gradient",
    tol=_tol(1, 2, _EXACT),
    tracker={
        "candle": f"slice_set, masked_loss: https://github.com/huggingface/candle/issues/2193, {_CANDLE_SLICE}. kv_cache: KvCache stands on slice_set and says "
        "nothing of it: no ticket known. concat_kv_cache: had a gradient in 0.9.2 and 0.10.2, detaches since 0.11.0 (a comment in its source calls caches "
        "inference-only): no ticket known. quantized: fix proposed in https://github.com/huggingface/candle/pull/2729 (open). gradient_penalty: "
        "https://github.com/huggingface/candle/issues/2462 asks for second gradients; that a wrong one is given: no ticket known",
    },
    guards="the trainer's loss and its masks",
    items={
        "slice_set": Item(
            claim="A buffer filled slice by slice passes its gradient to the slices.",
            inputs=two_parts,
            reference=joined,
            batch=("a", "b", "dy"),
        ),
        "masked_loss": Item(
            claim="A row that a loss sets to zero in place has no gradient, and the other rows keep theirs.",
            inputs=masked_inputs,
            reference=masked,
            tol=_tol(6, 6, "one product, four of them summed"),
        ),
        "kv_cache": Item(
            claim="Keys and values that went through a cache written in place receive their gradient.",
            inputs=cache_inputs,
            reference=cached,
            tol=_tol(16, 65, "4 products summed, then 5"),
            batch=("q", "k", "v", "dy"),
        ),
        "concat_kv_cache": Item(
            claim="Keys and values that went through a cache that concatenates receive their gradient.",
            inputs=cache_inputs,
            reference=cached,
            tol=_tol(16, 65, "4 products summed, then 5"),
            batch=("q", "k", "v", "dy"),
        ),
        "quantized": Item(
            claim="A frozen quantized layer passes a gradient to its input, as an adapter below it needs.",
            inputs=quantized_inputs,
            reference=quantized,
            tol=_tol(33, 2340, "32 products"),
            batch=("x", "dy"),
        ),
        "gradient_penalty": Item(
            claim="The gradient of a gradient is whole, or the framework refuses.",
            inputs=penalty_inputs,
            reference=penalty,
            tol=_tol(8, 77, "powers, factors and a sum of two paths"),
        ),
    },
)
