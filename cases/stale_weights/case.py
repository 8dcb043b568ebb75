"""Weights that change while something still looks at them; careful that the new values differ from the old ones everywhere.

On a CPU it is aliasing: two names of one buffer, and no count of its versions. The race between a copy to the device and the step that
uses it can only be asked on CUDA: the item `race`, which has not been run yet, for want of a device. There torch's variant `unsynchronised`
fills a buffer again that is still to be copied, and must be silent. What lies where is no matter of type: float32 alone is asked.
"""

import numpy as np

from harness.case import Case, Documented, Item, Tol
from harness.inputs import grid

LR = 0.125


def overwritten(rng):
    return {"x": grid(rng, 3, 4), "new": grid(rng, 3, 4, span=4.0) + 8, "dy": grid(rng, 3, 4)}


def set_between(x, new, dy):
    """Of y = x^2, which was computed with the old x: its gradient is 2 x of the old one, and x itself is new afterwards."""
    return {"y": x**2, "dx": 2 * x * dy, "after": new * 1.0}


def one_step(rng):
    return {"w": grid(rng, 3, 4), "g": grid(rng, 3, 4)}


def snapshot(w, g):
    return {"before": w * 1.0, "after": w - LR * g}


def alias(w, g):
    return {"before": w - LR * g, "after": w - LR * g}


def beams(rng):
    return {"prompt": grid(rng, 1, 2, 3, 4), "first": grid(rng, 1, 2, 1, 4), "second": grid(rng, 1, 2, 1, 4)}  # BHTD


def cache_clone(prompt, first, second):
    return {"a": np.concatenate([prompt, first], axis=2), "b": np.concatenate([prompt, second], axis=2)}


def tied_inputs(rng):
    return {"ids": np.array([2, 0, 2, 3]), "w": grid(rng, 5, 4), "dy": grid(rng, 4, 5)}  # w VD


def tied(ids, w, dy):
    """Logits of a model whose head is its embedding; then one SGD step on that one weight, and the logits again."""
    dw = dy.T @ w[ids]
    np.add.at(dw, ids, dy @ w)
    after = w - LR * dw
    return {"y": w[ids] @ w.T, "dw": dw, "after": after, "y_after": after[ids] @ after.T}


def kept_view_inputs(rng):
    return {"x": grid(rng, 3, 4), "w": grid(rng, 5, 4), "g": grid(rng, 5, 4)}


def kept_view(x, w, g):
    return {"y": x @ (w - LR * g).T}


def race_inputs(rng):
    return {"x": grid(rng, 4, 8), "w": grid(rng, 24, 8, 3)}


def race(x, w):
    """24 updates of one weight, each followed at once by a product with it. On the device its columns come 2^18 times, 24 MiB; asked are the last three."""
    return {"y": x @ w}


def _tol(roundings, size, what):
    return {"float32": Tol(rtol=0.0, atol=roundings * 2.0**-24 * size, why=f"{what}: {roundings} roundings of at most {size}")}


CASE = Case(
    claim="Who holds a weight sees its update, who holds a copy does not, and a backward never mixes the two without a word.",
    failure="wrong-gradient",
    tol=_tol(2, 3, "a product and a difference"),
    tracker={
        "candle": "Var::set between forward and backward, KvCache::clone (a comment in its source calls it safe after a reset only): no ticket known",
        "torch": "an in-place update raises; one through .data does not, as its documentation warns. race, `unsynchronised`: planted, the caller's mistake",
    },
    guards="trainer/checkpoint.py, tied weights",
    items={
        "set_between": Item(
            claim="A weight set between forward and backward does not change the gradient of what was computed before, or the framework refuses.",
            inputs=overwritten,
            reference=set_between,
            tol=_tol(2, 13, "a square, or two factors"),
        ),
        "snapshot": Item(
            claim="A clone of a weight taken before a step holds the values before it.",
            inputs=one_step,
            reference=snapshot,
            documented={
                "candle": Documented(
                    reference=alias,
                    link="https://docs.rs/candle-core/latest/candle_core/struct.Tensor.html",
                    why="Tensor is documented as reference counted: clone shares the storage, and Tensor::copy does not",
                )
            },
        ),
        "cache_clone": Item(claim="Two beams that share a prompt go on apart.", inputs=beams, reference=cache_clone),
        "tied": Item(
            claim="One weight in two places collects both gradients, and both places see its step.",
            inputs=tied_inputs,
            reference=tied,
            tol=_tol(20, 90, "at most 9 products summed, a step, and 4 products of its results"),
        ),
        "kept_view": Item(
            claim="A view of a weight that a layer took when it was made sees the step.",
            inputs=kept_view_inputs,
            reference=kept_view,
            tol=_tol(8, 12, "a step and 4 products"),
        ),
        "race": Item(
            device="cuda",
            claim="A product uses the weight that was copied to the device just before it.",
            inputs=race_inputs,
            reference=race,
            tol=_tol(9, 20, "8 products"),
        ),
    },
)
