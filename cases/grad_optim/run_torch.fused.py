import torch


def _train(kind, p, g, absent=(), **options):
    w = torch.nn.Parameter(p.clone())
    optimizer = kind([w], fused=True, **options)
    for t, grad in enumerate(g):
        w.grad = None if t in absent else grad
        optimizer.step()
    return w.detach()


def sgd(p, g, lr):
    return _train(torch.optim.SGD, p, g, lr=lr)


def sgd_decay(p, g, lr, decay):
    return _train(torch.optim.SGD, p, g, lr=lr, weight_decay=decay)


def momentum(p, g, lr, momentum):
    return _train(torch.optim.SGD, p, g, lr=lr, momentum=momentum)


def nesterov(p, g, lr, momentum):
    return _train(torch.optim.SGD, p, g, lr=lr, momentum=momentum, nesterov=True)


def momentum_absent(p, g, lr, momentum, absent):
    return _train(torch.optim.SGD, p, g, absent, lr=lr, momentum=momentum)


def adagrad(p, g, lr, eps, initial):
    return _train(torch.optim.Adagrad, p, g, lr=lr, eps=eps, initial_accumulator_value=initial)
