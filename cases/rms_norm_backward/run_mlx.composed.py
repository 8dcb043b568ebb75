import mlx.core as mx


def _rms_norm(x, w):
    wide = x if x.dtype == mx.float64 else x.astype(mx.float32)
    normed = wide * mx.rsqrt(wide.square().mean(-1, keepdims=True) + 1e-5)
    return normed.astype(x.dtype) * w


def run(x, w, dy):
    (y,), (dx, dw) = mx.vjp(_rms_norm, [x, w], [dy])
    return {"y": y, "dx": dx, "dw": dw}
