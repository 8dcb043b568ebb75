import torch


def _train(kind, p, g, absent=(), **options):
    w = torch.nn.Parameter(p.clone())
    optimizer = kind([w], **options)
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


def rmsprop(p, g, lr, rho, eps):
    return _train(torch.optim.RMSprop, p, g, lr=lr, alpha=rho, eps=eps)


def rmsprop_centered(p, g, lr, rho, eps):
    return _train(torch.optim.RMSprop, p, g, lr=lr, alpha=rho, eps=eps, centered=True)


def rmsprop_centered_steady(p, g, lr, rho, eps):
    return _train(torch.optim.RMSprop, p, g, lr=lr, alpha=rho, eps=eps, centered=True)


def rmsprop_momentum(p, g, lr, rho, eps, momentum):
    return _train(torch.optim.RMSprop, p, g, lr=lr, alpha=rho, eps=eps, momentum=momentum)


def adadelta(p, g, lr, rho, eps):
    return _train(torch.optim.Adadelta, p, g, lr=lr, rho=rho, eps=eps)


def adafactor(p, g, lr):
    return _train(torch.optim.Adafactor, p, g, lr=lr, weight_decay=0.0)


def clip_norm(a, b, most):
    parameters = [torch.nn.Parameter(torch.zeros_like(t)) for t in (a, b)]
    for parameter, t in zip(parameters, (a, b), strict=True):
        parameter.grad = t.clone()
    torch.nn.utils.clip_grad_norm_(parameters, most)
    return torch.cat([parameter.grad.flatten() for parameter in parameters])


def clip_value(a, b, most):
    parameters = [torch.nn.Parameter(torch.zeros_like(t)) for t in (a, b)]
    for parameter, t in zip(parameters, (a, b), strict=True):
        parameter.grad = t.clone()
    torch.nn.utils.clip_grad_value_(parameters, most)
    return torch.cat([parameter.grad.flatten() for parameter in parameters])
