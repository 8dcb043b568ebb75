import numpy as np


def step(w, g):
    w, m, v = w.copy(), np.zeros_like(w), np.zeros_like(w)
    for step in range(1, 41):
        m *= 0.9
        m += 0.1 * g
        v *= 0.999
        v += 0.001 * g * g
        w *= 1 - 2.0**-13
        w -= m * (2.0**-10 / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
    return {"after": w}
