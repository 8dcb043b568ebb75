"""The recurrence by matrix products, and in a fixed order by whole columns."""

import numpy as np


def _products(state, q, k, v, gate, beta):
    out = np.empty_like(v)
    for t in range(len(q)):
        kept = state * gate[t, :, None, None]
        correction = beta[t, :, None] * (v[t] - (k[t][:, None] @ kept)[:, 0])
        state = kept + k[t][..., None] @ correction[:, None]
        out[t] = (q[t][:, None] @ state)[:, 0]
    return {"out": out, "state": state}


def exact(**tensors):
    return _products(**tensors)


def tokens(**tensors):
    return _products(**tensors)


def _ordered(weights, state):
    """Sum of weights[:, i] * state[:, i] over the keys i, first to last."""
    total = weights[:, 0, None] * state[:, 0]
    for i in range(1, state.shape[1]):
        total = total + weights[:, i, None] * state[:, i]
    return total


def sequential(state, q, k, v, gate, beta):
    out = []
    for t in range(len(q)):
        state = gate[t, :, None, None] * state
        correction = beta[t, :, None] * (v[t] - _ordered(k[t], state))
        state = state + k[t, :, :, None] * correction[:, None]
        out.append(_ordered(q[t], state))
    return {"out": np.array(out), "state": state}
