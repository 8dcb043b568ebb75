import jax
import optax


def _train(optimizer, p, g):
    def step(carry, grad):
        p, state = carry
        updates, state = optimizer.update(grad, state, p)
        return (optax.apply_updates(p, updates), state), None

    return jax.lax.scan(step, (p, optimizer.init(p)), g)[0][0]


def adam(p, g, lr, beta1, beta2, eps):
    return _train(optax.adam(lr, b1=beta1, b2=beta2, eps=eps), p, g)


def adam_default(p, g, lr):
    return _train(optax.adam(lr), p, g)


def adamw_default(p, g, lr):
    return _train(optax.adamw(lr), p, g)


def adam_half(p, g, lr, beta1, beta2, eps):
    return _train(optax.adam(lr, b1=beta1, b2=beta2, eps=eps), p, g)


def adam_l2(p, g, lr, beta1, beta2, eps, decay):
    return _train(optax.chain(optax.add_decayed_weights(decay), optax.adam(lr, b1=beta1, b2=beta2, eps=eps)), p, g)


def adamw(p, g, lr, beta1, beta2, eps, decay):
    return _train(optax.adamw(lr, b1=beta1, b2=beta2, eps=eps, weight_decay=decay), p, g)


def amsgrad(p, g, lr, beta1, beta2, eps):
    return _train(optax.amsgrad(lr, b1=beta1, b2=beta2, eps=eps), p, g)


def adamax(p, g, lr, beta1, beta2, eps):
    return _train(optax.adamax(lr, b1=beta1, b2=beta2, eps=eps), p, g)


def nadam(p, g, lr, beta1, beta2, eps, psi):
    del psi  # it has no schedule of its momentum
    return _train(optax.nadam(lr, b1=beta1, b2=beta2, eps=eps), p, g)


def radam(p, g, lr, beta1, beta2, eps):
    return _train(optax.radam(lr, b1=beta1, b2=beta2, eps=eps), p, g)


def lamb(p, g, lr, beta1, beta2, eps):
    return _train(optax.lamb(lr, b1=beta1, b2=beta2, eps=eps), p, g)
