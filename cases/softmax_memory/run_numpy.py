import numpy as np


def forward(x, dy):  # noqa: ARG001  only the step needs dy
    return {"y": _softmax(x)}


def step(x, dy):
    y = _softmax(x)
    along = np.einsum("hts,hts->ht", dy, y)[..., None]
    return {"y": y, "dx": (dy - along) * y}


def _softmax(x):
    y = np.exp(x)  # scores within 5: no maximum needed
    y /= y.sum(axis=-1, keepdims=True)
    return y
