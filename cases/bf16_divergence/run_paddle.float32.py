import paddle
import paddle.nn.functional as F


def embedding_grad(ids, dy):
    table = paddle.zeros([8, 4], dtype=dy.dtype)
    table.stop_gradient = False
    wide = table.astype("float32") if dy.dtype == paddle.bfloat16 else table  # the gradients meet in float32
    F.embedding(ids, wide).astype(dy.dtype).backward(dy)
    return {"ones": table.grad[:, :2], "random": table.grad[:, 2:]}
