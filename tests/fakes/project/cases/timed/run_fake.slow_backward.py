def forward(x, w, dy):
    return {"y": x @ w}


def gemm(a, b):
    return {"c": a @ b}


def step(x, w, dy):
    for _ in range(100):
        dw = x.T @ dy
    return {"y": x @ w, "dx": dy @ w.T, "dw": dw}
