import mlx.core as mx


def _rms_norm(x, w):
    return mx.fast.rms_norm(x, w, 1e-5)


def run(x, w, dy):
    (y,), (dx, dw) = mx.vjp(_rms_norm, [x, w], [dy])
    return {"y": y, "dx": dx, "dw": dw}
