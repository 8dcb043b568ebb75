import mlx.optimizers as optim


def _train(optimizer, p, g):
    weights = {"w": p}
    for grad in g:
        weights = optimizer.apply_gradients({"w": grad}, weights)
    return weights["w"]


def adam(p, g, lr, beta1, beta2, eps):
    return _train(optim.Adam(lr, betas=[beta1, beta2], eps=eps, bias_correction=True), p, g)


def adam_default(p, g, lr):
    return _train(optim.Adam(lr), p, g)


def adamw_default(p, g, lr):
    return _train(optim.AdamW(lr), p, g)


def adam_half(p, g, lr, beta1, beta2, eps):
    return _train(optim.Adam(lr, betas=[beta1, beta2], eps=eps, bias_correction=True), p, g)


def adam_absent(p, g, lr, beta1, beta2, eps, absent):
    optimizer = optim.Adam(lr, betas=[beta1, beta2], eps=eps, bias_correction=True)
    weights = {"w": p, "other": p}
    optimizer.init(weights)
    for t, grad in enumerate(g):
        grads = {"other": grad} if t in absent else {"w": grad, "other": grad}
        weights = {**weights, **optimizer.apply_gradients(grads, weights)}
    return weights["w"]


def adamw(p, g, lr, beta1, beta2, eps, decay):
    return _train(optim.AdamW(lr, betas=[beta1, beta2], eps=eps, weight_decay=decay, bias_correction=True), p, g)


def adamax(p, g, lr, beta1, beta2, eps):
    return _train(optim.Adamax(lr, betas=[beta1, beta2], eps=eps), p, g)
