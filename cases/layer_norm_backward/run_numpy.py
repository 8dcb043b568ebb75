"""LayerNorm by projection: accumulates in float32 or better, rounds once at the end."""

import numpy as np


def run(x, w, b, dy):
    dtype = x.dtype
    wide = np.float64 if dtype == np.float64 else np.float32
    x, w, b, dy = x.astype(wide), w.astype(wide), b.astype(wide), dy.astype(wide)
    d = x.shape[-1]

    centre = np.eye(d, dtype=wide) - wide(1 / d)
    c = x @ centre
    square = np.einsum("btd,btd->bt", c, c) + wide(d * 1e-5)
    scale = np.sqrt(wide(d) / square)[..., None]
    along = np.einsum("btd,d,btd->bt", dy, w, c) / square
    dx = scale * ((w * dy) @ centre - c * along[..., None])
    db = np.ones(dy[..., 0].size, wide) @ dy.reshape(-1, d)
    answer = {"y": w * (scale * c) + b, "dx": dx, "dw": np.einsum("btd,btd->d", scale * dy, c), "db": db}
    return {name: value.astype(dtype) for name, value in answer.items()}
