"""Decoding with a linear attention that was trained elsewhere: the gated delta rule, a state S [heads, keys, values] and one token after another.

    S <- gate S;    S <- S + k (x) beta (v - k S);    out = q S

- exact: one token. All numbers are multiples of 1/4 of at most 1, so that every product and partial sum is a multiple of 2^-12 below 2^7: 19 bits,
  exact in float32. Whatever the order of summation, fused or not, the bits are the reference's.
- sequential: eight tokens of ordinary numbers in float32, sums in the order of the key index, each product and each sum rounded by itself. The order
  is fixed, so the bits are too; the variant `plain` of candle is plain Rust. A fused multiply-add or another order is seen;
  a flushed denormal is not, as no number here is below 2^-12.
- tokens: sixteen tokens through a framework's own products, within rounding.
"""

import numpy as np

from harness.case import Case, Item, Tol, close
from harness.inputs import normal

HEADS, KEYS, VALUES = 2, 8, 6


def quarters(rng, *shape):
    return rng.integers(1, 5, size=shape) * rng.choice([-1, 1], size=shape) / 4


def one_token(rng):
    return {
        "state": quarters(rng, HEADS, KEYS, VALUES),
        "q": quarters(rng, 1, HEADS, KEYS),
        "k": quarters(rng, 1, HEADS, KEYS),
        "v": quarters(rng, 1, HEADS, VALUES),
        "gate": np.abs(quarters(rng, 1, HEADS)),
        "beta": np.abs(quarters(rng, 1, HEADS)),
    }


def ordinary(rng, tokens):
    return {
        "state": normal(rng, HEADS, KEYS, VALUES),
        "q": normal(rng, tokens, HEADS, KEYS, scale=KEYS**-0.5),
        "k": normal(rng, tokens, HEADS, KEYS, scale=KEYS**-0.5),
        "v": normal(rng, tokens, HEADS, VALUES),
        "gate": 1 - np.abs(quarters(rng, tokens, HEADS)) / 8,
        "beta": 1 - np.abs(quarters(rng, tokens, HEADS)) / 2,
    }


def eight_tokens(rng):
    return ordinary(rng, 8)


def sixteen_tokens(rng):
    return ordinary(rng, 16)


def decoded(state, q, k, v, gate, beta):
    out = []
    for t in range(len(q)):
        state = gate[t][:, None, None] * state
        error = v[t] - np.einsum("hk,hkv->hv", k[t], state)
        state = state + k[t][:, :, None] * (beta[t][:, None] * error)[:, None, :]
        out.append(np.einsum("hk,hkv->hv", q[t], state))
    return {"out": np.stack(out), "state": state}


def in_order(state, q, k, v, gate, beta):
    """The same in float32 whatever the inputs' type: element by element, sums by key index, every operation rounded."""
    state, q, k, v, gate, beta = (np.array(x, np.float32) for x in (state, q, k, v, gate, beta))
    out = np.empty_like(v)
    for t, h, j in np.ndindex(len(q), HEADS, VALUES):
        column, error = state[h, :, j], v[t, h, j]
        column *= gate[t, h]
        total = column[0] * k[t, h, 0]
        for i in range(1, KEYS):
            total = total + column[i] * k[t, h, i]
        column += k[t, h] * (beta[t, h] * (error - total))
        total = column[0] * q[t, h, 0]
        for i in range(1, KEYS):
            total = total + column[i] * q[t, h, i]
        out[t, h, j] = total
    return {"out": out, "state": state}


BITS = Tol(rtol=0.0, atol=0.0, why="nothing is rounded, or every rounding is fixed: the same bits")


def _rounded(u):
    return Tol(
        rtol=0.0,
        atol=16 * 20 * 4 * u,
        why="16 tokens, each two sums of 8 products and 3 more roundings: 20 u of terms of at most 4; the state shrinks (gate below 1, and beta k k' "
        "takes from it what it adds), so errors add up at most: 16 * 20 * 4 u",
    )


CASE = Case(
    claim="A decode step of the gated delta rule gives the reference's numbers, to the bit where the order is fixed.",
    failure="axis",
    reference=decoded,
    tol={"float64": BITS, "float32": BITS},
    items={
        "exact": Item(claim="One token of numbers whose sums are exact gives the reference's bits.", inputs=one_token),
        "sequential": Item(
            claim="Eight tokens in a fixed order of operations give the reference's float32 bits.",
            inputs=eight_tokens,
            reference=in_order,
            tol={"float32": BITS},
        ),
        "tokens": Item(
            claim="Sixteen tokens stay within rounding.",
            inputs=sixteen_tokens,
            tol={"float64": _rounded(2.0**-53), "float32": _rounded(2.0**-24)},
        ),
    },
    checks=[close("out"), close("state")],
    tracker={},
    guards="training in one framework, serving in another",
)
