"""Forward and backward by hand, the weights updated at the end of each step."""

import numpy as np


def run(x, target, w):
    losses, sixteenth = [], x.dtype.type(0.0625)
    for _ in range(3):
        h, saved = x, []
        for layer in w:
            saved.append((h, t := np.tanh(h @ layer)))
            h = h + t * sixteenth
        losses.append(np.mean(np.square(h - target)))
        d, grad = (h - target) * x.dtype.type(2 / h.size), np.empty_like(w)
        for i, (h, t) in reversed(list(enumerate(saved))):
            dz = d * (1 - t) * (1 + t) * sixteenth
            grad[i] = h.T @ dz
            d = d + dz @ w[i].T
        w = w - 2 * grad
    return {"losses": np.array(losses), "w": w}
