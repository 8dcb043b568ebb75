from tinygrad import Tensor
from tinygrad.helpers import Context
from tinygrad.nn.optim import LAMB, Adam, AdamW

TRAINING = Tensor.train() if hasattr(Tensor, "train") else Context(TRAINING=1)  # since 0.14 the second


def _train(kind, p, g, **options):
    w = p.clone().realize()
    optimizer = kind([w], **options)
    with TRAINING:
        for t in range(g.shape[0]):
            w.grad = g[t]
            optimizer.step()
    return w


def adam(p, g, lr, beta1, beta2, eps):
    return _train(Adam, p, g, lr=lr, b1=beta1, b2=beta2, eps=eps)


def adam_default(p, g, lr):
    return _train(Adam, p, g, lr=lr)


def adamw_default(p, g, lr):
    return _train(AdamW, p, g, lr=lr)


def adam_half(p, g, lr, beta1, beta2, eps):
    return _train(Adam, p, g, lr=lr, b1=beta1, b2=beta2, eps=eps)


def adamw(p, g, lr, beta1, beta2, eps, decay):
    return _train(AdamW, p, g, lr=lr, b1=beta1, b2=beta2, eps=eps, weight_decay=decay)


def lamb(p, g, lr, beta1, beta2, eps):
    return _train(LAMB, p, g, lr=lr, b1=beta1, b2=beta2, eps=eps)
