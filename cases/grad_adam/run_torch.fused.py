import torch


def _train(kind, p, g, absent=(), **options):
    w = torch.nn.Parameter(p.clone())
    optimizer = kind([w], fused=True, **options)
    for t, grad in enumerate(g):
        w.grad = None if t in absent else grad
        optimizer.step()
    return w.detach()


def adam(p, g, lr, beta1, beta2, eps):
    return _train(torch.optim.Adam, p, g, betas=(beta1, beta2), lr=lr, eps=eps)


def adam_l2(p, g, lr, beta1, beta2, eps, decay):
    return _train(torch.optim.Adam, p, g, betas=(beta1, beta2), lr=lr, eps=eps, weight_decay=decay)


def adam_absent(p, g, lr, beta1, beta2, eps, absent):
    return _train(torch.optim.Adam, p, g, absent, betas=(beta1, beta2), lr=lr, eps=eps)


def adamw(p, g, lr, beta1, beta2, eps, decay):
    return _train(torch.optim.AdamW, p, g, betas=(beta1, beta2), lr=lr, eps=eps, weight_decay=decay)


def amsgrad(p, g, lr, beta1, beta2, eps):
    return _train(torch.optim.Adam, p, g, betas=(beta1, beta2), lr=lr, eps=eps, amsgrad=True)
