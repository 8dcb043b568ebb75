import mlx.core as mx


def _layers(x, w1, w2):
    return mx.tanh(x @ w1) @ w2


def forward(x, w1, w2, dy):  # noqa: ARG001  only the step needs dy
    return {"y": _layers(x, w1, w2)}


def step(x, w1, w2, dy):
    sums = [mx.zeros_like(w1), mx.zeros_like(w2)]
    for _ in range(40):
        (y,), gradients = mx.vjp(lambda w1, w2: _layers(x, w1, w2), [w1, w2], [dy])
        sums = [total + gradient for total, gradient in zip(sums, gradients, strict=True)]
        mx.eval(y, sums)
    return {"y": y, "dw1": sums[0], "dw2": sums[1]}
