"""RMSNorm by hand: accumulates in float32 or better, rounds once at the end."""

import numpy as np


def run(x, w, dy):
    dtype = x.dtype
    wide = np.float64 if dtype == np.float64 else np.float32
    x, w, dy = x.astype(wide), w.astype(wide), dy.astype(wide)
    d = x.shape[-1]

    square = np.einsum("btd,btd->bt", x, x) + wide(d * 1e-5)
    scale = np.sqrt(wide(d) / square)[..., None]
    along = np.einsum("btd,d,btd->bt", dy, w, x) / square
    y = w * (scale * x)
    dx = scale * (w * dy) - scale * x * along[..., None]
    dw = np.einsum("btd,btd->d", scale * dy, x)
    return {"y": y.astype(dtype), "dx": dx.astype(dtype), "dw": dw.astype(dtype)}
