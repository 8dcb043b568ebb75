import optax


def step(steps, lr, size, gamma):
    return optax.exponential_decay(lr, size, gamma, staircase=True)(steps)


def multistep(steps, lr, first, second, gamma):
    return optax.piecewise_constant_schedule(lr, {first: gamma, second: gamma})(steps)


def exponential(steps, lr, gamma):
    return optax.exponential_decay(lr, 1, gamma)(steps)


def exponential_slow(steps, lr, size, gamma):
    return optax.exponential_decay(lr, size, gamma)(steps)


def linear(steps, lr, begin, end, total):
    return optax.linear_schedule(lr * begin, lr * end, total)(steps)


def polynomial(steps, lr, total, power):
    return optax.polynomial_schedule(lr, 0.0, power, total)(steps)


def cosine(steps, lr, total, least):
    return optax.cosine_decay_schedule(lr, total, alpha=least / lr)(steps)


def cosine_restarts(steps, lr, first, times, least):
    cycle = {"init_value": lr, "peak_value": lr, "warmup_steps": 0, "end_value": least}
    sizes = [first * times**n for n in range(50 if times == 1 else 6)]
    return optax.sgdr_schedule([{**cycle, "decay_steps": size} for size in sizes])(steps)


def warmup_cosine(steps, lr, warm, total):
    return optax.warmup_cosine_decay_schedule(0.0, lr, warm, total)(steps)


def joined(steps, lr, warm, gamma):
    return optax.join_schedules([optax.linear_schedule(lr / 2, lr, warm), optax.exponential_decay(lr, 1, gamma)], [warm])(steps)
