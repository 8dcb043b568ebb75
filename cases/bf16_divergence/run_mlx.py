import mlx.core as mx
from mlx import nn
from mlx.optimizers import SGD, clip_grad_norm


def sum(ones, random):
    return {"ones": mx.sum(ones, axis=1), "random": mx.sum(random, axis=1)}


def mean(ones, random):
    return {"ones": mx.mean(ones, axis=1), "random": mx.mean(random, axis=1)}


def softmax(logits):
    y = mx.softmax(logits, axis=1)
    return {"uniform": y[:1], "random": y[1:]}


def _cross_entropy(logits, target):
    def loss(logits):
        return nn.losses.cross_entropy(logits, target, reduction="mean")

    return mx.value_and_grad(loss)(logits)


def cross_entropy(logits, target):
    loss_uniform, dlogits_uniform = _cross_entropy(logits[:1], target[:1])
    loss_random, dlogits_random = _cross_entropy(logits[1:], target[1:])
    return {
        "loss_uniform": loss_uniform.reshape(1),
        "loss_random": loss_random.reshape(1),
        "dlogits_uniform": dlogits_uniform,
        "dlogits_random": dlogits_random,
    }


def bias_grad(dy):
    bias = mx.zeros(4, dy.dtype)
    _, (db,) = mx.vjp(lambda b: mx.zeros_like(dy) + b, [bias], [dy])
    return {"ones": db[:2], "random": db[2:]}


def embedding_grad(ids, dy):
    table = mx.zeros((8, 4), dy.dtype)
    _, (dtable,) = mx.vjp(lambda t: t[ids], [table], [dy])
    return {"ones": dtable[:, :2], "random": dtable[:, 2:]}


def cumsum(ones, random):
    return {"ones": mx.cumsum(ones, axis=1), "random": mx.cumsum(random, axis=1)}


def clip_norm(ones, random):
    return {"ones": clip_grad_norm({"w": ones}, 1.0)[0]["w"], "random": clip_grad_norm({"w": random}, 1.0)[0]["w"]}


def update_stall(weight, grad):
    params = {"weight": weight}
    optimizer = SGD(learning_rate=2**-10)
    for _ in range(100):
        grads = mx.grad(lambda p: (p["weight"] * grad).sum())(params)
        params = optimizer.apply_gradients(grads, params)
        mx.eval(params)
    return {"ones": params["weight"][:1], "random": params["weight"][1:]}
