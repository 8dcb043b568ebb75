import tensorflow as tf
from keras.optimizers import schedules


def _rates(schedule, steps):
    return tf.stack([tf.convert_to_tensor(schedule(t)) for t in steps])


def step(steps, lr, size, gamma):
    return _rates(schedules.ExponentialDecay(lr, size, gamma, staircase=True), steps)


def multistep(steps, lr, first, second, gamma):
    return _rates(schedules.PiecewiseConstantDecay([first, second], [lr, lr * gamma, lr * gamma**2]), steps)


def exponential(steps, lr, gamma):
    return _rates(schedules.ExponentialDecay(lr, 1, gamma), steps)


def exponential_slow(steps, lr, size, gamma):
    return _rates(schedules.ExponentialDecay(lr, size, gamma), steps)


def inverse_time(steps, lr, gamma):
    return _rates(schedules.InverseTimeDecay(lr, 1, gamma), steps)


def polynomial(steps, lr, total, power):
    return _rates(schedules.PolynomialDecay(lr, total, end_learning_rate=0.0, power=power), steps)


def polynomial_cycle(steps, lr, total, power):
    return _rates(schedules.PolynomialDecay(lr, total, end_learning_rate=0.0, power=power, cycle=True), steps)


def cosine(steps, lr, total, least):
    return _rates(schedules.CosineDecay(lr, total, alpha=least / lr), steps)


def cosine_restarts(steps, lr, first, times, least):
    return _rates(schedules.CosineDecayRestarts(lr, first, t_mul=float(times), alpha=least / lr), steps)


def warmup_cosine(steps, lr, warm, total):
    return _rates(schedules.CosineDecay(0.0, total - warm, warmup_target=lr, warmup_steps=warm), steps)
