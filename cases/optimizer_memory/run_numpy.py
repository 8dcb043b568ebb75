import numpy as np


def forward(w, g):
    return _steps(w, g, 1)


def step(w, g):
    return _steps(w, g, 40)


def _steps(w, g, count):
    w, m, v = w.copy(), np.zeros_like(w), np.zeros_like(w)
    for step in range(1, count + 1):
        dw = w * g
        m *= 0.9
        m += 0.1 * dw
        v *= 0.999
        v += 0.001 * dw * dw
        w *= 1 - 2.0**-13
        w -= m * (2.0**-10 / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
    return {"after": w}
