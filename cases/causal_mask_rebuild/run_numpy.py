import numpy as np


def forward(x, causal, window):
    return {"y_causal": _softmax(x + causal), "y_window": _softmax(x + window)}


def step(x, causal, window):  # it builds its own
    at = np.arange(x.shape[-1])
    back = np.subtract.outer(at, at)
    causal, window = np.zeros(back.shape, x.dtype), np.zeros(back.shape, x.dtype)
    causal[back < 0] = -np.inf
    window[(back < 0) | (back >= 64)] = -np.inf
    return forward(x, causal, window)


def _softmax(x):
    y = np.exp(x)  # scores within 5: no maximum needed
    y /= y.sum(axis=-1, keepdims=True)
    return y
