"""Attention and rotary positions: q [B, N, T, H], k and v [B, K, S, H], whatever order of axes a framework likes.

A query that sees no key has no agreed value: its row is left out and its gradient is zero, and what is asked are the others and that every gradient is finite.
"""

import numpy as np

from harness.sweep.attention import attention, cached, masked, projected, rotated
from harness.sweep.op import Op, Sweep

# In series: the scale, a score of n terms (its last sum), minus the maximum, exp, the sum, the quotient, the product with v; twice that
# because a score's roundings enter its exponential as they are, times the score, which moving q and k measures only in part.
ROUNDINGS = 16


def attend(q, k, v, seen=True, bias=0.0, scale=None):
    q, k, v = (np.asarray(t) for t in (q, k, v))
    k, v = (np.repeat(t, q.shape[1] // t.shape[1], axis=1) for t in (k, v))
    s = q @ k.swapaxes(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale) + bias
    s = np.where(seen, s, -np.inf)
    top = s.max(axis=-1, keepdims=True)
    p = np.exp(s - np.where(np.isneginf(top), 0.0, top))
    total = p.sum(axis=-1, keepdims=True)
    return p / np.where(total == 0, 1.0, total) @ v


def sdpa(q, k, v):
    return attend(q, k, v)


def sdpa_scale(q, k, v, scale):
    return attend(q, k, v, scale=scale)


def sdpa_causal(q, k, v):
    """A query sees the keys up to its own number, counted from the first."""
    return attend(q, k, v, seen=np.tri(q.shape[2], k.shape[2], dtype=bool))


def sdpa_causal_last(q, k, v):
    """A query sees the keys up to its own number, counted from the last; with fewer keys than queries the first see none."""
    return attend(q, k, v, seen=np.tri(q.shape[2], k.shape[2], k.shape[2] - q.shape[2], dtype=bool))


def sdpa_mask(q, k, v, mask):
    return attend(q, k, v, seen=mask)


def sdpa_bias(q, k, v, mask):
    return attend(q, k, v, bias=mask)


def sdpa_hidden_row(q, k, v, mask, row):
    return np.delete(attend(q, k, v, seen=mask), row, axis=2)


def sdpa_window(q, k, v, left):
    """Causal, and no further back than ``left`` keys."""
    t, s = np.ogrid[: q.shape[2], : k.shape[2]]
    return attend(q, k, v, seen=(s <= t) & (t - s <= left))


def sdpa_cache(q, k, v, past_k, past_v):
    return sdpa_causal_last(q, np.concatenate([past_k, k], axis=2), np.concatenate([past_v, v], axis=2))


def sdpa_alibi(q, k, v, slopes):
    t, s = np.ogrid[: q.shape[2], : k.shape[2]]
    return attend(q, k, v, bias=-np.asarray(slopes)[:, None, None] * np.abs(t - s))


def angles(x, dims, base, offset, scale):
    """[B or 1, 1, T, dims / 2]"""
    positions = (np.reshape(offset, (-1, 1)) + np.arange(x.shape[-2])) * scale
    return (positions[..., None] * base ** (-np.arange(0, dims, 2) / dims))[:, None]


def rope_half(x, dims, base, offset, scale):
    angle = angles(x, dims, base, offset, scale)
    a, b, rest = np.split(x, [dims // 2, dims], axis=-1)
    return np.concatenate([a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle), rest], axis=-1)


def rope_interleaved(x, dims, base, offset, scale):
    angle = angles(x, dims, base, offset, scale)
    a, b = x[..., 0:dims:2], x[..., 1:dims:2]
    turned = np.stack([a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle)], axis=-1)
    return np.concatenate([turned.reshape(*x.shape[:-1], dims), x[..., dims:]], axis=-1)


def multi_head(x, wq, bq, wk, bk, wv, bv, wo, bo, heads):
    def split(t):
        return t.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2)

    y = attend(split(x @ wq.T + bq), split(x @ wk.T + bk), split(x @ wv.T + bv))
    return y.swapaxes(1, 2).reshape(x.shape) @ wo.T + bo


def subtracts(forward):
    """Size of the terms: of y, p |v|; of ds = p (dp - sum p dp), |dp|. A score is off by u of its own terms, and p by as much of itself."""

    def cancels(asked, upstream):
        q, k, v = (np.nan_to_num(np.abs(asked.tensors[n])) for n in "qkv")
        past = [np.abs(asked.tensors[n]) for n in ("past_k", "past_v") if n in asked.tensors]
        if "row" in asked.attributes:
            upstream = np.insert(upstream, asked.attributes["row"], 0.0, axis=2)
        before = past[0].shape[2] if past else 0
        k, v = (np.concatenate([p, t], axis=2) for p, t in zip(past, (k, v), strict=True)) if past else (k, v)
        p = probabilities(forward, asked, k.shape[2])
        groups = q.shape[1] // k.shape[1]
        many_k, many_v = (np.repeat(t, groups, axis=1) for t in (k, v))
        scale = asked.attributes.get("scale", q.shape[-1] ** -0.5)
        terms = 1.0 + q @ many_k.swapaxes(-1, -2) * scale
        dp = upstream @ many_v.swapaxes(-1, -2)
        ds = p * (dp + np.sum(p * dp, axis=-1, keepdims=True)) * terms

        def few(t):
            return t.reshape(*k.shape[:2], groups, *t.shape[2:]).sum(axis=2)

        dk, dv = few(ds.swapaxes(-1, -2) @ q) * scale, few((p * terms).swapaxes(-1, -2) @ upstream)
        sizes = {"q": ds @ many_k * scale, "k": dk[:, :, before:], "v": dv[:, :, before:]}
        sizes |= {"past_k": dk[:, :, :before], "past_v": dv[:, :, :before], "y": (p * terms) @ many_v}
        if "row" in asked.attributes:
            sizes["y"] = np.delete(sizes["y"], asked.attributes["row"], axis=2)
        if "mask" in asked.tensors:
            sizes["mask"] = summed(ds, asked.tensors["mask"].shape)
        if "slopes" in asked.tensors:
            t, s = np.ogrid[: q.shape[2], : k.shape[2]]
            sizes["slopes"] = np.sum(ds * np.abs(t - s), axis=(0, 2, 3))
        return sizes

    return cancels


def probabilities(forward, asked, keys):
    """What attention gives each key: its output, where the values are the unit vectors."""
    asks = {n: np.nan_to_num(t, neginf=-np.inf) if n != "v" else t for n, t in asked.tensors.items()}
    before = asks["past_v"].shape[2] if "past_v" in asks else 0
    units = np.broadcast_to(np.eye(keys), (*asks["k"].shape[:2], keys, keys))
    asks["v"] = units[:, :, before:]
    if before:
        asks["past_v"] = units[:, :, :before]
    p = forward(**asks, **asked.attributes)
    return np.insert(p, asked.attributes["row"], 0.0, axis=2) if "row" in asked.attributes else p


def summed(t, shape):
    """Over the axes that ``shape`` broadcasts."""
    t = t.sum(axis=tuple(range(t.ndim - len(shape))))
    return t.sum(axis=tuple(a for a, n in enumerate(shape) if n == 1), keepdims=True)


def projections(asked, upstream):
    """Backward of `multi_head` on sizes: every product and sum of absolute values."""
    x, heads = np.abs(asked.tensors["x"]), asked.attributes["heads"]
    w = {n: np.abs(t) for n, t in asked.tensors.items() if n != "x"}

    def split(t):
        return t.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2)

    def join(t):
        return t.swapaxes(1, 2).reshape(x.shape)

    q, k, v = (split(x @ w[f"w{n}"].T + w[f"b{n}"]) for n in "qkv")
    terms = 1.0 + q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5
    dy = split(upstream @ w["wo"])
    dp = dy @ v.swapaxes(-1, -2)
    ds = (dp + dp.max(axis=-1, keepdims=True)) * terms  # p is at most 1
    d = {"q": join(ds @ k), "k": join(ds.swapaxes(-1, -2) @ q), "v": join(terms.swapaxes(-1, -2) @ dy)}
    sizes = {"y": join(terms @ v) @ w["wo"].T + w["bo"], "x": sum(d[n] @ w[f"w{n}"] for n in "qkv"), "bo": upstream.sum(axis=(0, 1))}
    sizes["wo"] = np.einsum("bto,btd->od", upstream, join(terms @ v))
    for n in "qkv":
        sizes |= {f"w{n}": np.einsum("bto,btd->od", d[n], x), f"b{n}": d[n].sum(axis=(0, 1))}
    return sizes


def keys(asked):
    return asked.tensors["k"].shape[2] + asked.tensors["q"].shape[-1]


def alibi(d):
    asked = attention()(d)
    return type(asked)(tensors={**asked.tensors, "slopes": d.floats(asked.tensors["q"].shape[1], styles=("positive",))})


def turned(asked, upstream):
    """Two products that cancel; of y three of the roundings alone are theirs: the table's, the product's and the sum's."""
    x = asked.tensors["x"]
    return {"x": np.full(x.shape, np.max(upstream, initial=0.0)), "y": np.full(x.shape, np.abs(x).max(initial=0.0)) * 3 / 24}


ALIGNED = (
    "https://ml-explore.github.io/mlx/build/html/python/_autosummary/mlx.core.fast.scaled_dot_product_attention.html",
    "its causal mask aligns the last query with the last key, and says so",
    sdpa_causal_last,
)
BURN_ALIGNED = (
    "https://docs.rs/burn-std/0.23.0-pre.1/burn_std/ops/enum.CausalAlignment.html",
    "up to 0.22 it always aligned the last query with the last key, as 0.23 says of it and still does unless told otherwise",
    sdpa_causal_last,
)

CASE = Sweep(
    claim="Attention has the value and the gradients of its definition, whatever masks it; so have rotary positions.",
    failure="wrong-gradient",
    items={
        "sdpa": Op(forward=sdpa, takes=attention(long=True), roundings=ROUNDINGS, terms=keys, cancels=subtracts(sdpa)),
        "sdpa_scale": Op(
            forward=sdpa_scale, takes=attention(scale=(1.0, 0.25, 2.0)), roundings=ROUNDINGS, terms=keys, cancels=subtracts(sdpa_scale)
        ),
        "sdpa_causal": Op(
            forward=sdpa_causal, takes=attention(square=True), roundings=ROUNDINGS, terms=keys, cancels=subtracts(sdpa_causal)
        ),
        "sdpa_causal_rectangle": Op(
            claim="Causal attention of fewer or more queries than keys: numbers are counted from the first.",
            forward=sdpa_causal,
            takes=attention(),
            roundings=ROUNDINGS,
            terms=keys,
            cancels=subtracts(sdpa_causal),
            documented={"mlx": ALIGNED, "burn": BURN_ALIGNED},
        ),
        "sdpa_mask": Op(forward=sdpa_mask, takes=masked(), roundings=ROUNDINGS, terms=keys, cancels=subtracts(sdpa_mask)),
        "sdpa_mask_heads": Op(forward=sdpa_mask, takes=masked(heads=True), roundings=ROUNDINGS, terms=keys, cancels=subtracts(sdpa_mask)),
        "sdpa_bias": Op(forward=sdpa_bias, takes=masked(additive=True), roundings=ROUNDINGS, terms=keys, cancels=subtracts(sdpa_bias)),
        "sdpa_bias_heads": Op(
            forward=sdpa_bias, takes=masked(additive=True, heads=True), roundings=ROUNDINGS, terms=keys, cancels=subtracts(sdpa_bias)
        ),
        "sdpa_hidden_row": Op(
            claim="A query that sees no key leaves the other rows and every gradient finite and right.",
            forward=sdpa_hidden_row,
            takes=masked(hidden=True),
            roundings=ROUNDINGS,
            terms=keys,
            cancels=subtracts(sdpa_hidden_row),
        ),
        "sdpa_grouped": Op(forward=sdpa, takes=attention(grouped=True), roundings=ROUNDINGS, terms=keys, cancels=subtracts(sdpa)),
        "sdpa_window": Op(
            forward=sdpa_window,
            takes=attention(square=True, left=(1, 0, 2)),
            roundings=ROUNDINGS,
            terms=keys,
            cancels=subtracts(sdpa_window),
        ),
        "sdpa_cache": Op(forward=sdpa_cache, takes=cached, roundings=ROUNDINGS, terms=keys, cancels=subtracts(sdpa_cache)),
        "sdpa_alibi": Op(forward=sdpa_alibi, takes=alibi, roundings=ROUNDINGS, terms=keys, cancels=subtracts(sdpa_alibi)),
        "multi_head": Op(
            forward=multi_head,
            takes=projected,
            roundings=2 * ROUNDINGS,
            terms=lambda asked: 4 * asked.tensors["x"].shape[-1],
            cancels=projections,
        ),
        # An angle of up to 18 radians, itself rounded, puts as many u into its sine; of x, the terms that a rotation subtracts.
        "rope_half": Op(forward=rope_half, takes=rotated(), roundings=24, cancels=turned),
        "rope_interleaved": Op(forward=rope_interleaved, takes=rotated(), roundings=24, cancels=turned),
        "rope_half_batch": Op(forward=rope_half, takes=rotated(batched=True), roundings=24, cancels=turned),
        "rope_interleaved_batch": Op(forward=rope_interleaved, takes=rotated(batched=True), roundings=24, cancels=turned),
    },
)
