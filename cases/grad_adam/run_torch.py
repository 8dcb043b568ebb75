import torch


def _train(kind, p, g, absent=(), **options):
    w = torch.nn.Parameter(p.clone())
    optimizer = kind([w], **options)
    for t, grad in enumerate(g):
        w.grad = None if t in absent else grad
        optimizer.step()
    return w.detach()


def adam(p, g, lr, beta1, beta2, eps):
    return _train(torch.optim.Adam, p, g, betas=(beta1, beta2), lr=lr, eps=eps)


def adam_default(p, g, lr):
    return _train(torch.optim.Adam, p, g, lr=lr)


def adamw_default(p, g, lr):
    return _train(torch.optim.AdamW, p, g, lr=lr)


def adam_half(p, g, lr, beta1, beta2, eps):
    return _train(torch.optim.Adam, p, g, betas=(beta1, beta2), lr=lr, eps=eps)


def adam_l2(p, g, lr, beta1, beta2, eps, decay):
    return _train(torch.optim.Adam, p, g, betas=(beta1, beta2), lr=lr, eps=eps, weight_decay=decay)


def adam_absent(p, g, lr, beta1, beta2, eps, absent):
    return _train(torch.optim.Adam, p, g, absent, betas=(beta1, beta2), lr=lr, eps=eps)


def adamw(p, g, lr, beta1, beta2, eps, decay):
    return _train(torch.optim.AdamW, p, g, betas=(beta1, beta2), lr=lr, eps=eps, weight_decay=decay)


def amsgrad(p, g, lr, beta1, beta2, eps):
    return _train(torch.optim.Adam, p, g, betas=(beta1, beta2), lr=lr, eps=eps, amsgrad=True)


def adamax(p, g, lr, beta1, beta2, eps):
    return _train(torch.optim.Adamax, p, g, betas=(beta1, beta2), lr=lr, eps=eps)


def nadam(p, g, lr, beta1, beta2, eps, psi):
    return _train(torch.optim.NAdam, p, g, betas=(beta1, beta2), lr=lr, eps=eps, momentum_decay=psi)


def radam(p, g, lr, beta1, beta2, eps):
    return _train(torch.optim.RAdam, p, g, betas=(beta1, beta2), lr=lr, eps=eps)
