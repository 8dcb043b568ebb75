import paddle


def _train(kind, p, g, *betas, absent=(), **options):
    w = paddle.create_parameter(p.shape, p.dtype, default_initializer=paddle.nn.initializer.Constant(0.0))
    w.set_value(p)
    optimizer = kind(parameters=[w], **dict(zip(("beta1", "beta2"), betas, strict=False)), **options)
    for t, grad in enumerate(g):
        if t not in absent:
            w.grad = grad
        optimizer.step()
        optimizer.clear_grad(set_to_zero=False)
    return w.detach()


def adam(p, g, lr, beta1, beta2, eps):
    return _train(paddle.optimizer.Adam, p, g, beta1, beta2, learning_rate=lr, epsilon=eps)


def adam_default(p, g, lr):
    return _train(paddle.optimizer.Adam, p, g, learning_rate=lr)


def adamw_default(p, g, lr):
    return _train(paddle.optimizer.AdamW, p, g, learning_rate=lr)


def adam_l2(p, g, lr, beta1, beta2, eps, decay):
    return _train(paddle.optimizer.Adam, p, g, beta1, beta2, learning_rate=lr, epsilon=eps, weight_decay=decay)


def adam_absent(p, g, lr, beta1, beta2, eps, absent):
    return _train(paddle.optimizer.Adam, p, g, beta1, beta2, absent=absent, learning_rate=lr, epsilon=eps)


def adamw(p, g, lr, beta1, beta2, eps, decay):
    return _train(paddle.optimizer.AdamW, p, g, beta1, beta2, learning_rate=lr, epsilon=eps, weight_decay=decay)


def amsgrad(p, g, lr, beta1, beta2, eps):
    return _train(paddle.optimizer.Adam, p, g, beta1, beta2, learning_rate=lr, epsilon=eps, amsgrad=True)


def adamax(p, g, lr, beta1, beta2, eps):
    return _train(paddle.optimizer.Adamax, p, g, beta1, beta2, learning_rate=lr, epsilon=eps)


def nadam(p, g, lr, beta1, beta2, eps, psi):
    return _train(paddle.optimizer.NAdam, p, g, beta1, beta2, learning_rate=lr, epsilon=eps, momentum_decay=psi)


def radam(p, g, lr, beta1, beta2, eps):
    return _train(paddle.optimizer.RAdam, p, g, beta1, beta2, learning_rate=lr, epsilon=eps)


def lamb(p, g, lr, beta1, beta2, eps):
    return _train(paddle.optimizer.Lamb, p, g, beta1, beta2, learning_rate=lr, epsilon=eps, lamb_weight_decay=0.0, always_adapt=True)
