"""Weights and state through an .npz file's bytes."""

from io import BytesIO

import numpy as np

STEPS, AFTER = 6, 3
LR, BETA1, BETA2, EPS, DECAY = 2.0**-5, 0.9, 0.999, 1e-8, 2.0**-4


def _adamw(w, g, count, m, v):
    count, m, v = count + 1, m + (1 - BETA1) * (g - m), v + (1 - BETA2) * (g * g - v)
    debiased = m / float(1 - BETA1**count)
    return w * (1 - LR * DECAY) - LR * debiased / (np.sqrt(v / float(1 - BETA2**count)) + EPS), count, m, v


def _momentum(w, g, count, m, v):
    m = BETA1 * m + g
    return w - LR * m, count, m, v


def _saved(state):
    file = BytesIO()
    np.savez(file, *state)
    file.seek(0)
    return list(np.load(file).values())


def _train(step, x, target, w, stop):
    state, losses = [w, np.array(0), np.zeros_like(w), np.zeros_like(w)], []
    for i in range(STEPS):
        if i == stop:
            state = _saved(state)
        error = (y := np.tanh(x[i] @ state[0].T)) - target[i]
        losses.append(np.mean(error * error))
        gradient = (error * (1 - y * y)).T @ x[i] * w.dtype.type(2 / error.size)
        state = list(step(state[0], gradient, *state[1:]))
    return np.array(losses), state[0]


def _both(step, x, target, w):
    losses, end = _train(step, x, target, w, stop=None)
    resumed, resumed_end = _train(step, x, target, w, stop=AFTER)
    return {"losses": losses, "w": end, "loss_quotient": (resumed / losses)[AFTER:], "w_quotient": resumed_end / end}


def adamw(x, target, w):
    return _both(_adamw, x, target, w)


def momentum(x, target, w):
    return _both(_momentum, x, target, w)
