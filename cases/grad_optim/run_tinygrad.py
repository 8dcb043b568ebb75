from tinygrad import Tensor
from tinygrad.helpers import Context
from tinygrad.nn.optim import SGD

TRAINING = Tensor.train() if hasattr(Tensor, "train") else Context(TRAINING=1)  # since 0.14 the second


def _train(kind, p, g, **options):
    w = p.clone().realize()
    optimizer = kind([w], **options)
    with TRAINING:
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
