import keras
import tensorflow as tf


def _train(optimizer, p, g, absent=()):
    w, other = (keras.Variable(p, dtype=p.dtype.name) for _ in range(2))
    optimizer.build([w, other])
    for t, grad in enumerate(tf.unstack(g)):
        optimizer.apply([None if t in absent else grad, grad], [w, other])
    return w.value


def sgd(p, g, lr):
    return _train(keras.optimizers.SGD(lr), p, g)


def momentum(p, g, lr, momentum):
    return _train(keras.optimizers.SGD(lr, momentum=momentum), p, g)


def nesterov(p, g, lr, momentum):
    return _train(keras.optimizers.SGD(lr, momentum=momentum, nesterov=True), p, g)


def momentum_absent(p, g, lr, momentum, absent):
    return _train(keras.optimizers.SGD(lr, momentum=momentum), p, g, absent)


def adagrad(p, g, lr, eps, initial):
    return _train(keras.optimizers.Adagrad(lr, epsilon=eps, initial_accumulator_value=initial), p, g)


def rmsprop(p, g, lr, rho, eps):
    return _train(keras.optimizers.RMSprop(lr, rho=rho, epsilon=eps), p, g)


def rmsprop_centered(p, g, lr, rho, eps):
    return _train(keras.optimizers.RMSprop(lr, rho=rho, epsilon=eps, centered=True), p, g)


def rmsprop_centered_steady(p, g, lr, rho, eps):
    return _train(keras.optimizers.RMSprop(lr, rho=rho, epsilon=eps, centered=True), p, g)


def rmsprop_momentum(p, g, lr, rho, eps, momentum):
    return _train(keras.optimizers.RMSprop(lr, rho=rho, epsilon=eps, momentum=momentum), p, g)


def adadelta(p, g, lr, rho, eps):
    return _train(keras.optimizers.Adadelta(lr, rho=rho, epsilon=eps), p, g)


def lion(p, g, lr, beta1, beta2, decay):
    return _train(keras.optimizers.Lion(lr, beta_1=beta1, beta_2=beta2, weight_decay=decay), p, g)


def adafactor(p, g, lr):
    return _train(keras.optimizers.Adafactor(lr, relative_step=False), p, g)


def clip_norm(a, b, most):
    clipped, _ = tf.clip_by_global_norm([a, b], most)
    return tf.concat([tf.reshape(t, [-1]) for t in clipped], axis=0)


def clip_each_norm(a, b, most):
    return tf.concat([tf.reshape(tf.clip_by_norm(t, most), [-1]) for t in (a, b)], axis=0)


def clip_value(a, b, most):
    return tf.concat([tf.reshape(tf.clip_by_value(t, -most, most), [-1]) for t in (a, b)], axis=0)
