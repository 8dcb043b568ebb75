import paddle


def _train(kind, p, g, absent=(), **options):
    w = paddle.create_parameter(p.shape, p.dtype, default_initializer=paddle.nn.initializer.Constant(0.0))
    w.set_value(p)
    optimizer = kind(parameters=[w], **options)
    for t, grad in enumerate(g):
        if t not in absent:
            w.grad = grad
        optimizer.step()
        optimizer.clear_grad(set_to_zero=False)
    return w.detach()


def _clip(clip, a, b):
    clipped = clip([(t, t.clone()) for t in (a, b)])  # it scales them where they are
    return paddle.concat([grad.flatten() for _, grad in clipped])


def sgd(p, g, lr):
    return _train(paddle.optimizer.SGD, p, g, learning_rate=lr)


def sgd_decay(p, g, lr, decay):
    return _train(paddle.optimizer.SGD, p, g, learning_rate=lr, weight_decay=decay)


def momentum(p, g, lr, momentum):
    return _train(paddle.optimizer.Momentum, p, g, learning_rate=lr, momentum=momentum)


def nesterov(p, g, lr, momentum):
    return _train(paddle.optimizer.Momentum, p, g, learning_rate=lr, momentum=momentum, use_nesterov=True)


def momentum_absent(p, g, lr, momentum, absent):
    return _train(paddle.optimizer.Momentum, p, g, absent, learning_rate=lr, momentum=momentum)


def adagrad(p, g, lr, eps, initial):
    return _train(paddle.optimizer.Adagrad, p, g, learning_rate=lr, epsilon=eps, initial_accumulator_value=initial)


def rmsprop(p, g, lr, rho, eps):
    return _train(paddle.optimizer.RMSProp, p, g, learning_rate=lr, rho=rho, epsilon=eps)


def rmsprop_centered(p, g, lr, rho, eps):
    return _train(paddle.optimizer.RMSProp, p, g, learning_rate=lr, rho=rho, epsilon=eps, centered=True)


def rmsprop_centered_steady(p, g, lr, rho, eps):
    return _train(paddle.optimizer.RMSProp, p, g, learning_rate=lr, rho=rho, epsilon=eps, centered=True)


def rmsprop_momentum(p, g, lr, rho, eps, momentum):
    return _train(paddle.optimizer.RMSProp, p, g, learning_rate=lr, rho=rho, epsilon=eps, momentum=momentum)


def adadelta(p, g, lr, rho, eps):
    return _train(paddle.optimizer.Adadelta, p, g, learning_rate=lr, rho=rho, epsilon=eps)


def clip_norm(a, b, most):
    return _clip(paddle.nn.ClipGradByGlobalNorm(most), a, b)


def clip_each_norm(a, b, most):
    return _clip(paddle.nn.ClipGradByNorm(most), a, b)


def clip_value(a, b, most):
    return _clip(paddle.nn.ClipGradByValue(most), a, b)
