"""When a loss curve would have told; careful that the curve gets every chance. Written, and committed, before any faulty run was looked at.

The band is that of healthy twins over the very tokens of the faulty run, in the same order, from other first weights: nobody has twenty of those in the field.
"""

import numpy as np

SMOOTHING = 0.9  # weight of the past at each step: what is left of a loss after 22 steps is a tenth
SIGMAS = 3.0  # of the smoothed healthy losses at that step
SHARE = 0.1  # of the steps
HEALTHY = 20  # seeds of the band
STEPS = 200  # of the preset nano: five epochs of its sample


def smoothed(losses):
    """Exponential moving average over steps (the last axis), divided by the sum of its weights so that the start is not pulled to zero."""
    losses = np.asarray(losses, dtype=np.float64)
    mean, out = np.zeros(losses.shape[:-1]), np.empty_like(losses)
    for step in range(losses.shape[-1]):
        mean = SMOOTHING * mean + (1 - SMOOTHING) * losses[..., step]
        out[..., step] = mean / (1 - SMOOTHING ** (step + 1))
    return out


def band(healthy):
    """Mean and standard deviation, each (steps,), of the smoothed losses (seeds, steps) of healthy runs."""
    curves = smoothed(healthy)
    return curves.mean(axis=0), curves.std(axis=0, ddof=1)


def outside(losses, healthy):
    """Share of steps at which a run's smoothed loss is outside the healthy band. A loss that is not finite is outside from there on."""
    mean, deviation = band(healthy)
    with np.errstate(invalid="ignore"):
        return float(np.mean(~(np.abs(smoothed(losses) - mean) <= SIGMAS * deviation)))


def told(losses, healthy):
    return outside(losses, healthy) >= SHARE
