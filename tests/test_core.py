"""The comparison: never equal by accident."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gradarbiter.core import deviation

floats = hnp.arrays(np.float64, hnp.array_shapes(max_dims=3, max_side=4), elements=st.floats(-1e6, 1e6))


@given(floats)
def test_an_answer_holds_against_itself(want):
    assert deviation(want, want, rtol=0.0, atol=0.0).holds
    assert deviation(want, want, rtol=0.0, atol=0.0, norm="normwise").holds


@given(floats, st.floats(1e-9, 1e-2), st.data())
def test_three_tolerances_off_is_found_where_it_is(want, tol, data):
    place = tuple(data.draw(st.integers(0, n - 1)) for n in want.shape)
    got = want.copy()
    got[place] += 3 * (tol + tol * abs(want[place]))
    found = deviation(got, want, rtol=tol, atol=tol)
    assert not found.holds
    assert found.where == place
    assert found.wrong == 1
    assert found.ratio == pytest.approx(3, rel=1e-3)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("norm", ["elementwise", "normwise"])
def test_a_number_is_not_nan_or_infinity(bad, norm):
    want = np.ones(4)
    got = want.copy()
    got[2] = bad
    assert not deviation(got, want, rtol=1e9, atol=1e9, norm=norm).holds
    assert not deviation(want, got, rtol=1e9, atol=1e9, norm=norm).holds
    assert deviation(got, got, rtol=0.0, atol=0.0, norm=norm).holds


def test_infinities_of_different_sign_differ():
    assert not deviation(np.array([np.inf]), np.array([-np.inf]), rtol=1.0, atol=1.0).holds


def test_a_lost_axis_is_not_broadcast_away():
    with pytest.raises(ValueError, match=r"found \(3,\), wanted \(2, 3\)"):
        deviation(np.ones(3), np.ones((2, 3)), rtol=1.0, atol=1.0)


def test_zero_tolerance_means_equal():
    assert not deviation(np.array([1e-300]), np.array([0.0]), rtol=0.0, atol=0.0).holds


def test_normwise_spreads_an_error_over_the_array():
    want = np.ones(100)
    got = want.copy()
    got[0] += 0.05
    assert not deviation(got, want, rtol=0.01, atol=0.0).holds
    assert deviation(got, want, rtol=0.01, atol=0.0, norm="normwise").holds
