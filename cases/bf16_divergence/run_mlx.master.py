import mlx.core as mx
from mlx.optimizers import SGD


def update_stall(weight, grad):
    dtype = weight.dtype
    params = {"master": weight.astype(mx.float32 if dtype == mx.bfloat16 else dtype)}
    optimizer = SGD(learning_rate=2**-10)
    for _ in range(100):
        grads = mx.grad(lambda p: (p["master"].astype(dtype) * grad).sum())(params)
        params = optimizer.apply_gradients(grads, params)
        mx.eval(params)
    weight = params["master"].astype(dtype)
    return {"ones": weight[:1], "random": weight[1:]}
