import mlx.core as mx
import mlx.optimizers as optim


def _rates(schedule, steps):
    """As an optimizer asks it: a step is of uint64."""
    return mx.stack([mx.array(schedule(t)) for t in steps.astype(mx.uint64)])


def step(steps, lr, size, gamma):
    return _rates(optim.step_decay(lr, gamma, size), steps)


def exponential(steps, lr, gamma):
    return _rates(optim.exponential_decay(lr, gamma), steps)


def linear(steps, lr, begin, end, total):
    return _rates(optim.linear_schedule(lr * begin, lr * end, total), steps)


def cosine(steps, lr, total, least):
    return _rates(optim.cosine_decay(lr, total, end=least), steps)


def joined(steps, lr, warm, gamma):
    return _rates(optim.join_schedules([optim.linear_schedule(lr / 2, lr, warm), optim.exponential_decay(lr, gamma)], [warm]), steps)
