import mlx.core as mx


def forward(x, dy):  # noqa: ARG001  only the step needs dy
    return {"y": mx.softmax(x, axis=-1)}


def step(x, dy):
    (y,), (dx,) = mx.vjp(lambda x: mx.softmax(x, axis=-1), [x], [dy])
    return {"y": y, "dx": dx}
