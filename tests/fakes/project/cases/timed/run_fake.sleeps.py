import time


def forward(x, w, dy):
    return {"y": x @ w}


def gemm(a, b):
    return {"c": a @ b}


def step(x, w, dy):
    time.sleep(0.02)
    return {"y": x @ w, "dx": dy @ w.T, "dw": x.T @ dy}
