from tinygrad import nn


def run(x, w, dy):
    norm = nn.RMSNorm(w.shape[0], eps=1e-5)
    norm.weight = w
    y = norm(x)
    dx, dw = y.gradient(x, w, gradient=dy)
    return {"y": y, "dx": dx, "dw": dw}
