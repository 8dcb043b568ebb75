CALLS = []


def forward(x, w, dy):
    return {"y": x @ w}


def gemm(a, b):
    return {"c": a @ b}


def step(x, w, dy):
    CALLS.append(1)
    for _ in range(60 if len(CALLS) < 8 else 1):
        dw = x.T @ dy
    return {"y": x @ w, "dx": dy @ w.T, "dw": dw}
