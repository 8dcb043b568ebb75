import numpy as np
import pytest
from blindspot_rule import HEALTHY, SHARE, STEPS, outside, smoothed, told


def losses(seed, count=1):
    """A falling curve with noise that a run's neighbours in time share, as losses have: an offset a run, and a bit a step."""
    rng = np.random.default_rng(seed)
    fall = 3 + 3 * np.exp(-np.arange(STEPS) / 40)
    return fall + 0.05 * rng.standard_normal((count, 1)) + 0.05 * rng.standard_normal((count, STEPS))


HEALTHY_LOSSES = losses(0, HEALTHY)


def test_a_constant_curve_is_its_own_average():
    assert smoothed(np.full(30, 2.5)) == pytest.approx(np.full(30, 2.5), rel=1e-12)


def test_the_average_is_the_weighted_sum_of_the_past():
    found = smoothed([1.0, 2.0, 4.0])
    assert found == pytest.approx([1.0, (0.9 * 1 + 2) / 1.9, (0.81 * 1 + 0.9 * 2 + 4) / 2.71], rel=1e-12)


def test_a_curve_that_stays_up_is_told():
    assert told(losses(1)[0] + 0.5, HEALTHY_LOSSES)


def test_a_healthy_curve_is_not():
    assert not told(losses(1)[0], HEALTHY_LOSSES)


@pytest.mark.parametrize("share", [SHARE / 2, 2 * SHARE])
def test_it_takes_a_tenth_of_the_steps(share):
    """The end of the run is lifted; the average needs some steps to follow."""
    lifted = losses(1)[0]
    lifted[-int(share * STEPS) :] += 5
    assert told(lifted, HEALTHY_LOSSES) == (share > SHARE)


def test_what_is_not_finite_is_outside():
    broken = losses(1)[0]
    broken[150:] = np.nan
    assert outside(broken, HEALTHY_LOSSES) == pytest.approx(0.25, abs=0.05)
