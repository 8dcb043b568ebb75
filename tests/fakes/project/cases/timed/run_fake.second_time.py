from pathlib import Path

SEEN = Path(__file__).with_suffix(".seen")
AGAIN = SEEN.exists()
SEEN.touch()


def forward(x, w, dy):
    return {"y": x @ w}


def gemm(a, b):
    return {"c": a @ b}


def step(x, w, dy):
    if AGAIN:
        raise OSError("the second process of this cell fails")
    return {"y": x @ w, "dx": dy @ w.T, "dw": x.T @ dy}
