import mlx.core as mx


def run(x, dy):
    (y,), (dx,) = mx.vjp(lambda x: mx.softmax(x, axis=-1), [x], [dy])
    return {"y": y, "dx": dx}
