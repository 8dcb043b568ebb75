import numpy as np

np.ones(16 << 20, np.float32)  # a peak before anything is measured


def forward(x, w, dy):
    return {"y": x @ w}


def gemm(a, b):
    return {"c": a @ b}


def step(x, w, dy):
    return {"y": x @ w, "dx": dy @ w.T, "dw": x.T @ dy}
