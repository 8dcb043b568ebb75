import jax
import jax.numpy as jnp
import optax


def _train(optimizer, p, g):
    def step(carry, grad):
        p, state = carry
        updates, state = optimizer.update(grad, state, p)
        return (optax.apply_updates(p, updates), state), None

    return jax.lax.scan(step, (p, optimizer.init(p)), g)[0][0]


def _clip(transform, a, b):
    clipped, _ = transform.update((a, b), transform.init((a, b)))
    return jnp.concatenate([t.ravel() for t in clipped])


def sgd(p, g, lr):
    return _train(optax.sgd(lr), p, g)


def sgd_decay(p, g, lr, decay):
    return _train(optax.chain(optax.add_decayed_weights(decay), optax.sgd(lr)), p, g)


def momentum(p, g, lr, momentum):
    return _train(optax.sgd(lr, momentum=momentum), p, g)


def nesterov(p, g, lr, momentum):
    return _train(optax.sgd(lr, momentum=momentum, nesterov=True), p, g)


def adagrad(p, g, lr, eps, initial):
    return _train(optax.adagrad(lr, initial_accumulator_value=initial, eps=eps), p, g)


def rmsprop(p, g, lr, rho, eps):
    return _train(optax.rmsprop(lr, decay=rho, eps=eps, eps_in_sqrt=False), p, g)


def rmsprop_centered(p, g, lr, rho, eps):
    return _train(optax.rmsprop(lr, decay=rho, eps=eps, eps_in_sqrt=False, centered=True), p, g)


def rmsprop_centered_steady(p, g, lr, rho, eps):
    return _train(optax.rmsprop(lr, decay=rho, eps=eps, eps_in_sqrt=False, centered=True), p, g)


def rmsprop_momentum(p, g, lr, rho, eps, momentum):
    return _train(optax.rmsprop(lr, decay=rho, eps=eps, eps_in_sqrt=False, momentum=momentum), p, g)


def adadelta(p, g, lr, rho, eps):
    return _train(optax.adadelta(lr, rho=rho, eps=eps), p, g)


def lion(p, g, lr, beta1, beta2, decay):
    return _train(optax.lion(lr, b1=beta1, b2=beta2, weight_decay=decay), p, g)


def adafactor(p, g, lr):
    return _train(optax.adafactor(lr, min_dim_size_to_factor=1), p, g)


def clip_norm(a, b, most):
    return _clip(optax.clip_by_global_norm(most), a, b)


def clip_value(a, b, most):
    return _clip(optax.clip(most), a, b)
