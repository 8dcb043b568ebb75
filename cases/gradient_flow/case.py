"""The constructs of a language model in which gradients get lost: one forward and one backward, and each trainable parameter's gradient.

gradarbiter's gradient_flow asks a user's model whether each gradient is there, finite and not zero. Here its value is known as well, so that
a path which is lost beside another one (a tied table, a weight used three times, a branch through a cast) shows too: such a gradient is
neither missing nor zero.

- tied: one table looks tokens up and scores them; its gradient is the sum of both.
- tiled_heads: two key and value heads serve four query heads, head h the h mod 2: each one's gradient is the sum of two.
- cast: a weight goes to another float type and back, alone and beside itself uncast; the values are exact in both types.
- llama_attention: RMSNorm, projections, rotary (adjacent pairs), causal softmax, with the parts a framework offers for them.
- shared_layer: one matrix applied three times.

The references write the forward only; their gradients are complex steps (harness/complex_step.py), the control's are by hand.
"""

import numpy as np

from harness.case import Case, Item, Tol, close
from harness.complex_step import gradients
from harness.inputs import grid, normal, positive

EPS, BASE = 1e-5, 10000.0


def tied_inputs(rng):
    return {
        "ids": rng.permutation(np.arange(12) % 7).reshape(2, 6),
        "target": rng.permutation(np.arange(12) % 7).reshape(2, 6),
        "table": normal(rng, 7, 4),
        "w": normal(rng, 4, 4, scale=0.5),
    }


def tied_loss(ids, target, table, w):
    logits = (np.tanh(table[ids] @ w.T) @ table.T).reshape(-1, len(table))
    top = logits.real.max(1)
    log_sum = np.log(np.exp(logits - top[:, None]).sum(1)) + top
    return np.mean(log_sum - logits[np.arange(len(logits)), target.ravel()])


def tied(ids, target, table, w):
    t = {"ids": ids, "target": target, "table": table, "w": w}
    return {"loss": [tied_loss(**t)], **gradients(tied_loss, t, ["table", "w"])}


def softmax(scores):
    e = np.exp(scores - scores.real.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def heads_inputs(rng):
    return {"q": grid(rng, 2, 4, 5, 4), "k": grid(rng, 2, 2, 5, 4), "v": grid(rng, 2, 2, 5, 4), "dy": grid(rng, 2, 4, 5, 4)}  # B H T D


def heads_loss(q, k, v, dy):
    k, v = np.concatenate([k, k], axis=1), np.concatenate([v, v], axis=1)
    return np.sum(softmax(q @ k.swapaxes(-1, -2) / 2) @ v * dy)


def tiled_heads(q, k, v, dy):
    t = {"q": q, "k": k, "v": v, "dy": dy}
    return {"loss": [heads_loss(**t)], **gradients(heads_loss, t, ["q", "k", "v"])}


def cast_inputs(rng):
    return {"alone": grid(rng, 3, 5), "beside": grid(rng, 3, 5), "dy": grid(rng, 3, 5)}


def cast(alone, beside, dy):
    return {
        "loss": [np.sum((alone**2 + beside**3) * dy)],
        "dalone": 2 * alone * dy,
        "dbeside": 3 * beside**2 * dy,
    }


def llama_inputs(rng):
    return {
        "x": grid(rng, 2, 6, 8),
        "norm": positive(rng, 8),
        "w_q": normal(rng, 8, 8, scale=8**-0.5),
        "w_k": normal(rng, 8, 8, scale=8**-0.5),
        "w_v": normal(rng, 8, 8, scale=8**-0.5),
        "dy": grid(rng, 2, 6, 8),
    }


def rotated(x_BHTD):
    """Channels 2i and 2i + 1 turned by position * BASE^(-2i / D)."""
    T, D = x_BHTD.shape[-2:]
    angle = np.arange(T)[:, None] * BASE ** (-np.arange(0, D, 2) / D)
    even, odd, cos, sin = x_BHTD[..., 0::2], x_BHTD[..., 1::2], np.cos(angle), np.sin(angle)
    turned = np.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1)
    return turned.reshape(x_BHTD.shape)


def llama_loss(x, norm, w_q, w_k, w_v, dy):
    B, T, C = x.shape
    h = x / np.sqrt((x * x).mean(-1, keepdims=True) + EPS) * norm
    q, k, v = ((h @ w.T).reshape(B, T, 2, C // 2).swapaxes(1, 2) for w in (w_q, w_k, w_v))
    scores = rotated(q) @ rotated(k).swapaxes(-1, -2) * (C // 2) ** -0.5
    a = softmax(np.where(np.tri(T, dtype=bool), scores, -1e30)) @ v
    return np.sum(a.swapaxes(1, 2).reshape(B, T, C) * dy)


def llama_attention(dy, **tensors):
    t = {**tensors, "dy": dy}
    return {"loss": [llama_loss(**t)], **gradients(llama_loss, t, tensors)}


def shared_inputs(rng):
    return {"x": grid(rng, 4, 6), "w": normal(rng, 6, 6, scale=0.4), "dy": grid(rng, 4, 6)}


def shared_loss(x, w, dy):
    for _ in range(3):
        x = x + np.tanh(x @ w.T)
    return np.sum(x * dy)


def shared_layer(x, w, dy):
    t = {"x": x, "w": w, "dy": dy}
    return {"loss": [shared_loss(**t)], **gradients(shared_loss, t, ["x", "w"])}


def _tol(count, size):
    """``size`` bounds the sum of the terms' sizes over the norm of any output, ``count`` the roundings on any path to it."""
    why = f"normwise; at most {count} roundings on a path, of terms whose sizes sum to at most {size} x the result: {count} * {size} u. "
    return {
        "float64": Tol(
            rtol=count * size * 2.0**-24, atol=0.0, why=why + "u is float32's: this row asks for the gradient, not for a float64 exp"
        ),
        "float32": Tol(rtol=count * size * 2.0**-24, atol=0.0, why=why + "u = 2^-24"),
    }


def _checks(*names):
    return [close("loss"), *(close(f"d{name}", norm="normwise") for name in names)]


CASE = Case(
    claim="One backward gives every trainable parameter its whole gradient.",
    failure="missing-gradient",
    tol=_tol(60, 8),
    items={
        "tied": Item(
            claim="A table that looks tokens up and scores them gets both gradients.",
            inputs=tied_inputs,
            reference=tied,
            checks=_checks("table", "w"),
        ),
        "tiled_heads": Item(
            claim="A key head that serves two query heads gets the sum of their gradients.",
            inputs=heads_inputs,
            reference=tiled_heads,
            checks=_checks("q", "k", "v"),
            batch=("q", "k", "v", "dy"),
        ),
        "cast": Item(
            claim="A gradient goes through a cast to another float type and back.",
            inputs=cast_inputs,
            reference=cast,
            checks=_checks("alone", "beside"),
        ),
        "llama_attention": Item(
            claim="Through RMSNorm, rotary and softmax every projection gets its gradient.",
            inputs=llama_inputs,
            reference=llama_attention,
            checks=_checks("x", "norm", "w_q", "w_k", "w_v"),
            batch=("x", "dy"),
        ),
        "shared_layer": Item(
            claim="A matrix applied three times gets the sum of three gradients.",
            inputs=shared_inputs,
            reference=shared_layer,
            checks=_checks("x", "w"),
        ),
    },
    tracker={
        "candle": "llama_attention: rms_norm, rope_i and softmax_last_dim have no backward: https://github.com/huggingface/candle/issues/2168, "
        "https://github.com/huggingface/candle/issues/3568, https://github.com/huggingface/candle/issues/3569; the variant `composed` is the control",
        "burn": "tiled_heads: https://github.com/tracel-ai/burn/issues/2776 has the older, wrong shape; wrong values: no report "
        "found. cast: 0.16.1 and 0.18.0 lose the graph, and with it llama_attention's RmsNorm in 0.18.0",
    },
    compiled=("float32",),
    limit_s=300.0,  # torch.compile from a cold cache took 26 s of CPU, more than a minute on a loaded machine
    guards="gradarbiter's gradient_flow and gradient_parity; trainer/model.py",
)
