"""The composed norm with `clone` for `detach`: under to_static a detached tensor that is used twice gets the gradient of one use."""

import paddle


def run(x, w, dy):
    x, w = x.clone(), w.clone()
    x.stop_gradient = w.stop_gradient = False
    wide = x if x.dtype == paddle.float64 else x.astype("float32")
    normed = wide * paddle.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)
    y = normed.astype(x.dtype) * w
    dx, dw = paddle.grad([y], [x, w], [dy])
    return {"y": y, "dx": dx, "dw": dw}
