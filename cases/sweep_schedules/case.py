"""Schedules: the learning rate of given steps, of which some lie past the schedule's end. The first step has number 0.

Where frameworks agree on a name and not on what follows the end, there is a row for each meaning.
"""

import numpy as np

from harness.sweep.op import Op, Sweep
from harness.sweep.training import schedule


def staircase(steps, lr, size, gamma):
    return lr * gamma ** (steps // size)


def multistep(steps, lr, first, second, gamma):
    return lr * gamma ** ((steps >= first).astype(int) + (steps >= second))


def multistep_after(steps, lr, first, second, gamma):
    return lr * gamma ** ((steps > first).astype(int) + (steps > second))


def exponential(steps, lr, gamma):
    return lr * gamma ** steps.astype(float)


def exponential_slow(steps, lr, size, gamma):
    return lr * gamma ** (steps / size)


def inverse_time(steps, lr, gamma):
    return lr / (1 + gamma * steps)


def linear(steps, lr, begin, end, total):
    return lr * (begin + (end - begin) * np.minimum(steps, total) / total)


def polynomial(steps, lr, total, power):
    return lr * (1 - np.minimum(steps, total) / total) ** power


def polynomial_cycle(steps, lr, total, power):
    """Past the end it starts again, from where a polynomial over a multiple of the total is then."""
    return lr * (1 - steps / (total * np.maximum(1, np.ceil(steps / total)))) ** power


def cosine(steps, lr, total, least):
    return least + (lr - least) * (1 + np.cos(np.pi * np.minimum(steps, total) / total)) / 2


def cosine_annealing(steps, lr, total, least):
    """Past the end it rises again, as the cosine does."""
    return least + (lr - least) * (1 + np.cos(np.pi * steps / total)) / 2


def cosine_restarts(steps, lr, first, times, least):
    rates = []
    for step in steps.tolist():
        start, size = 0, first
        while step >= start + size:
            start, size = start + size, size * times
        rates.append(least + (lr - least) * (1 + np.cos(np.pi * (step - start) / size)) / 2)
    return np.array(rates)


def between(start, end, share):
    return end + (start - end) * (1 + np.cos(np.pi * share)) / 2


def one_cycle(steps, lr, total, share, divided, finally_divided):
    """Up to lr until step share * total - 1, and down until the last one."""
    top = share * total - 1
    up, down = between(lr / divided, lr, steps / top), between(lr, lr / divided / finally_divided, (steps - top) / (total - 1 - top))
    return np.where(steps <= top, up, down)


def warmup_cosine(steps, lr, warm, total):
    return np.where(steps < warm, lr * steps / warm, cosine(np.maximum(steps - warm, 0), lr, total - warm, 0.0))


def joined(steps, lr, warm, gamma):
    """Linear from half of lr to lr, then exponential, whose steps are counted from there."""
    return np.where(steps < warm, linear(steps, lr, 0.5, 1.0, warm), exponential(np.maximum(steps - warm, 0), lr, gamma))


def cyclic(steps, lr, top, up):
    """A triangle between lr and top; as long up as down."""
    x = np.abs(steps / up - 2 * np.floor(1 + steps / (2 * up)) + 1)
    return lr + (top - lr) * np.maximum(0, 1 - x)


def of_rate(asked):
    """A rate is a sum of numbers of lr's size, each off by a few u of float32: an angle of up to 24 pi among them."""
    return 128 * 2.0**-24 * max(asked.attributes["lr"], asked.attributes.get("top", 0.0))


GAMMA = (0.5, 0.75)
KERAS = (
    "https://keras.io/api/optimizers/learning_rate_schedules/piecewise_constant_decay/",
    "a boundary is the last step of the rate before it, as its example has it",
    multistep_after,
)

CASE = Sweep(
    claim="A schedule gives the learning rates of its formula, also past its end.",
    failure="optimizer",
    items={
        "step": Op(
            forward=staircase, takes=schedule(size=(4, 1, 3), gamma=GAMMA), gradient=False, dtypes=("float32",), roundings=32, slack=of_rate
        ),
        "multistep": Op(
            forward=multistep,
            takes=schedule(first=(3, 1), second=(7, 10), gamma=GAMMA),
            gradient=False,
            dtypes=("float32",),
            slack=of_rate,
            documented={"tensorflow": KERAS},
        ),
        "exponential": Op(
            forward=exponential, takes=schedule(gamma=GAMMA), gradient=False, dtypes=("float32",), roundings=32, slack=of_rate
        ),
        "exponential_slow": Op(
            forward=exponential_slow,
            takes=schedule(size=(4, 3), gamma=GAMMA),
            gradient=False,
            dtypes=("float32",),
            roundings=32,
            slack=of_rate,
        ),
        "inverse_time": Op(forward=inverse_time, takes=schedule(gamma=GAMMA), gradient=False, dtypes=("float32",), slack=of_rate),
        "linear": Op(
            forward=linear,
            takes=schedule(begin=(0.5, 1.0, 0.125), end=(1.0, 0.25), total=(8, 3, 1)),
            gradient=False,
            dtypes=("float32",),
            slack=of_rate,
        ),
        "polynomial": Op(
            forward=polynomial, takes=schedule(total=(8, 3, 1), power=(1.0, 2.0, 0.5)), gradient=False, dtypes=("float32",), slack=of_rate
        ),
        "polynomial_cycle": Op(
            forward=polynomial_cycle, takes=schedule(total=(8, 3, 1), power=(1.0, 2.0)), gradient=False, dtypes=("float32",), slack=of_rate
        ),
        "cosine": Op(
            forward=cosine, takes=schedule(total=(8, 3, 1), least=(0.0, 0.0625)), gradient=False, dtypes=("float32",), slack=of_rate
        ),
        "cosine_annealing": Op(
            forward=cosine_annealing,
            takes=schedule(total=(8, 3, 1), least=(0.0, 0.0625)),
            gradient=False,
            dtypes=("float32",),
            slack=of_rate,
        ),
        "cosine_restarts": Op(
            forward=cosine_restarts,
            takes=schedule(last=90, first=(4, 2, 5), times=(1, 2, 3), least=(0.0, 0.0625)),
            gradient=False,
            dtypes=("float32",),
            slack=of_rate,
        ),
        "one_cycle": Op(
            forward=one_cycle,
            takes=schedule(total=(24, 40), share=(0.25, 0.5), divided=(4.0,), finally_divided=(8.0,)),
            gradient=False,
            dtypes=("float32",),
            slack=of_rate,
        ),
        "warmup_cosine": Op(
            forward=warmup_cosine, takes=schedule(warm=(4, 1), total=(12, 6)), gradient=False, dtypes=("float32",), slack=of_rate
        ),
        "joined": Op(
            forward=joined, takes=schedule(warm=(4, 2), gamma=GAMMA), gradient=False, dtypes=("float32",), roundings=32, slack=of_rate
        ),
        "cyclic": Op(forward=cyclic, takes=schedule(top=(1.0, 2.0), up=(3, 4, 1)), gradient=False, dtypes=("float32",), slack=of_rate),
    },
)
