import mlx.core as mx


def embedding_grad(ids, dy):
    wide = mx.float32 if dy.dtype == mx.bfloat16 else dy.dtype  # the gradients meet in float32
    table = mx.zeros((8, 4), dy.dtype)
    _, (dtable,) = mx.vjp(lambda t: t.astype(wide)[ids].astype(dy.dtype), [table], [dy])
    return {"ones": dtable[:, :2], "random": dtable[:, 2:]}
