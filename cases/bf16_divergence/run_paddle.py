import paddle
import paddle.nn.functional as F


def sum(ones, random):
    return {"ones": paddle.sum(ones, axis=1), "random": paddle.sum(random, axis=1)}


def mean(ones, random):
    return {"ones": paddle.mean(ones, axis=1), "random": paddle.mean(random, axis=1)}


def softmax(logits):
    y = F.softmax(logits, axis=1)
    return {"uniform": y[:1], "random": y[1:]}


def _cross_entropy(logits, target):
    logits = logits.clone()
    logits.stop_gradient = False
    loss = F.cross_entropy(logits, target)
    loss.backward()
    return loss.reshape([1]), logits.grad


def cross_entropy(logits, target):
    loss_uniform, dlogits_uniform = _cross_entropy(logits[:1], target[:1])
    loss_random, dlogits_random = _cross_entropy(logits[1:], target[1:])
    return {
        "loss_uniform": loss_uniform,
        "loss_random": loss_random,
        "dlogits_uniform": dlogits_uniform,
        "dlogits_random": dlogits_random,
    }


def bias_grad(dy):
    bias = paddle.zeros([4], dtype=dy.dtype)
    bias.stop_gradient = False
    y = paddle.zeros_like(dy) + bias
    y.backward(dy)
    return {"ones": bias.grad[:2], "random": bias.grad[2:]}


def embedding_grad(ids, dy):
    table = paddle.zeros([8, 4], dtype=dy.dtype)
    table.stop_gradient = False
    F.embedding(ids, table).backward(dy)
    return {"ones": table.grad[:, :2], "random": table.grad[:, 2:]}


def update_stall(weight, grad):
    weight = weight.detach()
    weight.stop_gradient = False
    optimizer = paddle.optimizer.SGD(learning_rate=2**-10, parameters=[weight])
    for _ in range(100):
        (weight * grad).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
    return {"ones": weight[:1], "random": weight[1:]}
