import numpy as np


def forward(x, w1, w2, dy):  # noqa: ARG001  only the step needs dy
    return {"y": np.tanh(x @ w1) @ w2}


def step(x, w1, w2, dy):
    dw1, dw2 = np.zeros_like(w1), np.zeros_like(w2)
    for _ in range(40):
        h = np.tanh(x @ w1)
        y = h @ w2
        dw2 += h.T @ dy
        dw1 += x.T @ ((1 - h) * (1 + h) * (dy @ w2.T))
    return {"y": y, "dw1": dw1, "dw2": dw2}
