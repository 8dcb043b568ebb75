import paddle


def update_stall(weight, grad):
    master = weight.astype("float32") if weight.dtype == paddle.bfloat16 else weight.detach()
    master.stop_gradient = False
    optimizer = paddle.optimizer.SGD(learning_rate=2**-10, parameters=[master])
    for _ in range(100):
        (master.astype(grad.dtype) * grad).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
    weight = master.astype(grad.dtype)
    return {"ones": weight[:1], "random": weight[1:]}
