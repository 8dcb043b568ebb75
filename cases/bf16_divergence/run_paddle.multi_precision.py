import paddle


def update_stall(weight, grad):
    weight = weight.detach()
    weight.stop_gradient = False
    optimizer = paddle.optimizer.SGD(learning_rate=2**-10, parameters=[weight], multi_precision=True)  # float32 master weights
    for _ in range(100):
        (weight * grad).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
    return {"ones": weight[:1], "random": weight[1:]}
