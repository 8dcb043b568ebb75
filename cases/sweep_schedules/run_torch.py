import torch
from torch.optim import lr_scheduler


def _rates(steps, lr, kind, *arguments, **options):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=lr)
    scheduler = kind(optimizer, *arguments, **options)
    rates = []
    for _ in range(int(steps[-1]) + 1):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return torch.tensor(rates, dtype=torch.float64)[steps]


def step(steps, lr, size, gamma):
    return _rates(steps, lr, lr_scheduler.StepLR, size, gamma=gamma)


def multistep(steps, lr, first, second, gamma):
    return _rates(steps, lr, lr_scheduler.MultiStepLR, [first, second], gamma=gamma)


def exponential(steps, lr, gamma):
    return _rates(steps, lr, lr_scheduler.ExponentialLR, gamma)


def linear(steps, lr, begin, end, total):
    return _rates(steps, lr, lr_scheduler.LinearLR, start_factor=begin, end_factor=end, total_iters=total)


def polynomial(steps, lr, total, power):
    return _rates(steps, lr, lr_scheduler.PolynomialLR, total_iters=total, power=power)


def cosine_annealing(steps, lr, total, least):
    return _rates(steps, lr, lr_scheduler.CosineAnnealingLR, total, eta_min=least)


def cosine_restarts(steps, lr, first, times, least):
    return _rates(steps, lr, lr_scheduler.CosineAnnealingWarmRestarts, first, T_mult=times, eta_min=least)


def one_cycle(steps, lr, total, share, divided, finally_divided):
    return _rates(
        steps, lr, lr_scheduler.OneCycleLR, lr, total_steps=total, pct_start=share, div_factor=divided, final_div_factor=finally_divided
    )


def joined(steps, lr, warm, gamma):
    def kind(optimizer):
        warmup = lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=warm)
        return lr_scheduler.SequentialLR(optimizer, [warmup, lr_scheduler.ExponentialLR(optimizer, gamma)], [warm])

    return _rates(steps, lr, kind)


def cyclic(steps, lr, top, up):
    return _rates(steps, lr, lr_scheduler.CyclicLR, lr, top, step_size_up=up, cycle_momentum=False)
