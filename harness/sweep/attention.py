"""Samplers of attention, of positions and of layers over a sequence; careful that lengths, heads and sizes differ: no axis passes for another."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.sweep.draw import Draw
from harness.sweep.kinds import Sampler
from harness.sweep.op import Asked

MANY = 300  # keys: more than bfloat16 can count


def attention(*, square: bool = False, grouped: bool = False, long: bool = False, **attributes: tuple[Any, ...]) -> Sampler:
    """``q`` [B, N, T, H], ``k`` and ``v`` [B, K, S, H]; with ``grouped``, N is a multiple of K; with ``square``, T = S."""

    def takes(d: Draw) -> Asked:
        return _heads(d, square=square, grouped=grouped, long=long, attributes={n: d.choose(*v) for n, v in attributes.items()})

    return takes


def _heads(d: Draw, *, square: bool, grouped: bool, long: bool, attributes: dict[str, Any]) -> Asked:
    batch, heads = d.choose(2, 1), d.choose(2, 3, 1)
    keys = d.choose(3, 2, 5, 1, *((MANY,) if long else ()))
    queries = keys if square else d.choose(2, 4, 1)
    size, groups = d.choose(4, 2, 8, 3), d.choose(2, 3, 1) if grouped else 1
    styles = ("grid", "normal", "small", *(("large",) if d.wide else ()))
    values = ("ones", "normal") if keys == MANY else ("grid", "normal", "ones", *(() if square else ("nan",)))
    tensors = {
        "q": d.floats(batch, heads * groups, queries, size, styles=styles),
        "k": d.floats(batch, heads, keys, size, styles=styles),
        "v": d.floats(batch, heads, keys, size, styles=values),
    }
    return Asked(tensors=tensors, attributes=attributes)


def masked(*, additive: bool = False, heads: bool = False, hidden: bool = False) -> Sampler:
    """Attention and a ``mask`` of 2 to 4 axes, boolean (True: may see) or additive; each row sees a key, but with ``hidden`` the one named ``row``."""

    def takes(d: Draw) -> Asked:
        asked = _heads(d, square=True, grouped=False, long=False, attributes={})
        batch, count, queries, _ = asked.tensors["q"].shape
        full = (batch, count, queries, queries)
        axes = 4 if heads else d.choose(2, 3, 4)
        lead = tuple(d.choose(n, 1) for n in full[-axes:-2])
        shape = (*((d.choose(batch, 1), count) if heads else lead), queries, queries)
        seen = d.mask(*shape) | np.eye(queries, dtype=bool)
        if hidden:
            seen[..., row := d.whole(0, queries - 1), :] = False
            return Asked(tensors={**asked.tensors, "mask": seen}, attributes={"row": row})
        if additive:
            bias = d.floats(*shape)
            return Asked(tensors={**asked.tensors, "mask": np.where(seen, bias, -np.inf) if d.choose(False, True) else bias})
        return Asked(tensors={**asked.tensors, "mask": seen})

    return takes


def cached(d: Draw) -> Asked:
    """Keys and values of the past beside those of the new tokens, which are the queries' own."""
    asked = _heads(d, square=True, grouped=False, long=False, attributes={})
    batch, heads, _, size = asked.tensors["k"].shape
    past = d.choose(2, 1, 4)
    return Asked(tensors={**asked.tensors, "past_k": d.floats(batch, heads, past, size), "past_v": d.floats(batch, heads, past, size)})


def rotated(*, batched: bool = False) -> Sampler:
    """``x`` [B, N, T, D], of which the first ``dims`` turn; positions start at ``offset``, with ``batched`` another one for each of the batch."""

    def takes(d: Draw) -> Asked:
        batch, size = d.choose(2, 3, 1), d.choose(4, 8, 2)
        x = d.floats(batch, d.choose(2, 1, 3), d.choose(3, 1, 5), size)
        turned = {"dims": d.choose(size, max(2, size // 2)), "base": d.choose(10000.0, 100.0), "scale": d.choose(1.0, 0.5)}
        if batched:
            return Asked(tensors={"x": x, "offset": d.ids(batch, high=12).astype(d.choose("int32", "int64"))}, attributes=turned)
        return Asked(tensors={"x": x}, attributes={**turned, "offset": d.choose(0, 1, 7)})

    return takes


def projected(d: Draw) -> Asked:
    """``x`` [B, T, D], and the weights [D, D] and biases of attention with several heads."""
    heads = d.choose(2, 3, 1)
    width = heads * d.choose(2, 3)
    tensors = {"x": d.floats(d.choose(2, 1), d.choose(3, 2, 1), width)}
    for part in "qkvo":
        tensors |= {f"w{part}": d.floats(width, width) / 2, f"b{part}": d.floats(width)}
    return Asked(tensors=tensors, attributes={"heads": heads})


def recurrent(gates: int, *, cell: bool = False, memory: bool = False, both: bool = False) -> Sampler:
    """``x`` [B, T, D] (of a cell [B, D]), ``h`` [B, H], the ``memory`` ``c``, weights and biases gate after gate; of the way back, all these with an ``r``."""

    def takes(d: Draw) -> Asked:
        batch, into, size = d.choose(2, 1, 3), d.choose(1, 2, 3) if cell else d.choose(2, 1), d.choose(2, 1)
        x = (batch, into) if cell else (batch, d.choose(3, 2, 1), into)
        tensors = {"x": d.floats(*x, styles=("grid", "normal", "zero", *(("nan",) if cell else ())))}
        for side in ("", "r") if both else ("",):
            tensors[f"{side}h"] = d.floats(batch, size)
            if memory:
                tensors[f"{side}c"] = d.floats(batch, size)
            tensors |= {f"{side}wx": d.floats(gates * size, into) / 2, f"{side}wh": d.floats(gates * size, size) / 2}
            tensors |= {f"{side}bx": d.floats(gates * size), f"{side}bh": d.floats(gates * size)}
        return Asked(tensors=tensors)

    return takes
