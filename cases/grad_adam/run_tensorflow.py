import keras
import tensorflow as tf


def _train(kind, p, g, *betas, absent=(), **options):
    optimizer = kind(**dict(zip(("beta_1", "beta_2"), betas, strict=False)), **options)
    w, other = (keras.Variable(p, dtype=p.dtype.name) for _ in range(2))
    optimizer.build([w, other])
    for t, grad in enumerate(tf.unstack(g)):
        optimizer.apply([None if t in absent else grad, grad], [w, other])
    return w.value


def adam(p, g, lr, beta1, beta2, eps):
    return _train(keras.optimizers.Adam, p, g, beta1, beta2, learning_rate=lr, epsilon=eps)


def adam_default(p, g, lr):
    return _train(keras.optimizers.Adam, p, g, learning_rate=lr)


def adamw_default(p, g, lr):
    return _train(keras.optimizers.AdamW, p, g, learning_rate=lr)


def adam_half(p, g, lr, beta1, beta2, eps):
    return _train(keras.optimizers.Adam, p, g, beta1, beta2, learning_rate=lr, epsilon=eps)


def adam_absent(p, g, lr, beta1, beta2, eps, absent):
    return _train(keras.optimizers.Adam, p, g, beta1, beta2, absent=absent, learning_rate=lr, epsilon=eps)


def adamw(p, g, lr, beta1, beta2, eps, decay):
    return _train(keras.optimizers.AdamW, p, g, beta1, beta2, learning_rate=lr, epsilon=eps, weight_decay=decay)


def amsgrad(p, g, lr, beta1, beta2, eps):
    return _train(keras.optimizers.Adam, p, g, beta1, beta2, learning_rate=lr, epsilon=eps, amsgrad=True)


def adamax(p, g, lr, beta1, beta2, eps):
    return _train(keras.optimizers.Adamax, p, g, beta1, beta2, learning_rate=lr, epsilon=eps)


def nadam(p, g, lr, beta1, beta2, eps, psi):
    assert psi == 1.0  # its own, which is no option
    return _train(keras.optimizers.Nadam, p, g, beta1, beta2, learning_rate=lr, epsilon=eps)


def lamb(p, g, lr, beta1, beta2, eps):
    return _train(keras.optimizers.Lamb, p, g, beta1, beta2, learning_rate=lr, epsilon=eps)
