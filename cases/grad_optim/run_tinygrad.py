from tinygrad import Tensor
from tinygrad.nn.optim import SGD

Tensor.training = True  # optimizers before 0.14 ask for it


def _train(kind, p, g, **options):
    w = p.clone().realize()
    optimizer = kind([w], **options)
    for t in range(g.shape[0]):
        w.grad = g[t]
        optimizer.step()
    return w


def sgd(p, g, lr):
    return _train(SGD, p, g, lr=lr)


def sgd_decay(p, g, lr, decay):
    return _train(SGD, p, g, lr=lr, weight_decay=decay)


def momentum(p, g, lr, momentum):
    return _train(SGD, p, g, lr=lr, momentum=momentum)


def nesterov(p, g, lr, momentum):
    return _train(SGD, p, g, lr=lr, momentum=momentum, nesterov=True)
