import paddle
from paddle.optimizer import lr as schedulers


def _rates(steps, scheduler):
    rates = []
    for _ in range(int(steps[-1]) + 1):
        rates.append(float(scheduler()))
        scheduler.step()
    return paddle.to_tensor([rates[t] for t in steps.tolist()], dtype="float64")


def step(steps, lr, size, gamma):
    return _rates(steps, schedulers.StepDecay(lr, size, gamma))


def multistep(steps, lr, first, second, gamma):
    return _rates(steps, schedulers.MultiStepDecay(lr, [first, second], gamma))


def exponential(steps, lr, gamma):
    return _rates(steps, schedulers.ExponentialDecay(lr, gamma))


def inverse_time(steps, lr, gamma):
    return _rates(steps, schedulers.InverseTimeDecay(lr, gamma))


def linear(steps, lr, begin, end, total):
    return _rates(steps, schedulers.LinearLR(lr, total, start_factor=begin, end_factor=end))


def polynomial(steps, lr, total, power):
    return _rates(steps, schedulers.PolynomialDecay(lr, total, end_lr=0.0, power=power))


def polynomial_cycle(steps, lr, total, power):
    return _rates(steps, schedulers.PolynomialDecay(lr, total, end_lr=0.0, power=power, cycle=True))


def cosine_annealing(steps, lr, total, least):
    return _rates(steps, schedulers.CosineAnnealingDecay(lr, total, eta_min=least))


def cosine_restarts(steps, lr, first, times, least):
    return _rates(steps, schedulers.CosineAnnealingWarmRestarts(lr, first, T_mult=times, eta_min=least))


def one_cycle(steps, lr, total, share, divided, finally_divided):
    end = lr / divided / finally_divided
    return _rates(steps, schedulers.OneCycleLR(lr, total, divide_factor=divided, end_learning_rate=end, phase_pct=share))


def joined(steps, lr, warm, gamma):
    return _rates(steps, schedulers.LinearWarmup(schedulers.ExponentialDecay(lr, gamma), warm, lr / 2, lr))


def cyclic(steps, lr, top, up):
    return _rates(steps, schedulers.CyclicLR(lr, top, up))
