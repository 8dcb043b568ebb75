"""The last query alone, head by head; rotation as a product of complex numbers."""

import numpy as np

HEADS = 2


def _frequencies(channels):
    return np.exp(np.arange(0, channels, 2) * (-np.log(10000.0) / channels))


def _turn(rows):
    angle = np.arange(len(rows))[:, None] * _frequencies(rows.shape[1])
    turned = (rows[:, 0::2] + 1j * rows[:, 1::2]) * np.exp(1j * angle)
    return np.dstack([turned.real, turned.imag]).reshape(rows.shape).astype(rows.dtype)


def _nll(tokens, added, target, table, w_q, w_k, w_v, head, turn):
    losses, D = [], w_q.shape[0] // HEADS
    for row, wanted in zip(tokens, target, strict=True):
        x, attended = table[row] + added, []
        for h in range(0, len(w_q), D):
            q, k, v = (x @ w[h : h + D].T for w in (w_q, w_k, w_v))
            scores = turn(k) @ turn(q)[-1] / np.sqrt(x.dtype.type(D))
            weights = np.exp(scores - scores.max())
            attended.append(weights @ v / weights.sum())
        logits = head @ np.concatenate(attended)
        losses.append(-np.log(np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum())[wanted])
    return np.mean(losses, dtype=table.dtype, keepdims=True)


def _both(ids, order, added, turn, **rest):
    nll, shuffled = (_nll(tokens, added, turn=turn, **rest) for tokens in (ids, np.hstack([ids[:, order], ids[:, 7:]])))
    return {"nll": nll, "nll_shuffled": shuffled, "effect": shuffled - nll}


def rotary(**tensors):
    return _both(**tensors, added=tensors["table"].dtype.type(0), turn=_turn)


def learned(position, **tensors):
    return _both(**tensors, added=position, turn=np.asarray)


def sinusoidal(**tensors):
    table = tensors["table"]
    angle = np.arange(8)[:, None] * _frequencies(table.shape[1])
    sines = np.empty((8, table.shape[1]), table.dtype)
    sines[:, 0::2], sines[:, 1::2] = np.sin(angle), np.cos(angle)
    return _both(**tensors, added=sines, turn=np.asarray)
