import paddle
import paddle.nn.functional as F


def run(x, w, dy):
    x, w = x.detach(), w.detach()
    x.stop_gradient = w.stop_gradient = False
    y, _ = F.rms_norm(x, w.shape, w, 1e-5)
    dx, dw = paddle.grad([y], [x, w], [dy])
    return {"y": y, "dx": dx, "dw": dw}
