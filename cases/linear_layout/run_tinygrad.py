from tinygrad import nn


def rank3(x, w, b, dy):
    return _linear(x, w, b, dy)


def rank4(x, w, b, dy):
    return _linear(x, w, b, dy)


def _linear(x, w, b, dy):
    layer = nn.Linear(w.shape[1], w.shape[0])
    layer.weight, layer.bias = w, b
    y = layer(x.transpose(-1, -2))
    dx, dw, db = y.gradient(x, w, b, gradient=dy)
    return {"y": y, "dx": dx, "dw": dw, "db": db}
