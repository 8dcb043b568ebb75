import mlx.core as mx
import mlx.optimizers as optim


def _train(optimizer, p, g):
    weights = {"w": p}
    for grad in g:
        weights = optimizer.apply_gradients({"w": grad}, weights)
    return weights["w"]


def sgd(p, g, lr):
    return _train(optim.SGD(lr), p, g)


def sgd_decay(p, g, lr, decay):
    return _train(optim.SGD(lr, weight_decay=decay), p, g)


def momentum(p, g, lr, momentum):
    return _train(optim.SGD(lr, momentum=momentum), p, g)


def nesterov(p, g, lr, momentum):
    return _train(optim.SGD(lr, momentum=momentum, nesterov=True), p, g)


def rmsprop(p, g, lr, rho, eps):
    return _train(optim.RMSprop(lr, alpha=rho, eps=eps), p, g)


def adadelta(p, g, lr, rho, eps):
    return _train(optim.AdaDelta(lr, rho=rho, eps=eps), p, g)


def lion(p, g, lr, beta1, beta2, decay):
    return _train(optim.Lion(lr, betas=[beta1, beta2], weight_decay=decay), p, g)


def adafactor(p, g, lr):
    return _train(optim.Adafactor(lr, relative_step=False), p, g)


def clip_norm(a, b, most):
    clipped, _ = optim.clip_grad_norm({"a": a, "b": b}, most)
    return mx.concatenate([clipped["a"].flatten(), clipped["b"].flatten()])
