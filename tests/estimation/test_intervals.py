"""Fixed-sample intervals against SciPy, brute force, and their promise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, hypergeom

from app.estimation.intervals import (
    DesignInterval,
    ExactInterval,
    Interval,
    clopper_pearson,
    hypergeometric,
    wilson,
)


@pytest.mark.parametrize(("k", "n"), [(0, 10), (3, 10), (10, 10), (190, 200), (1, 1)])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_wilson_and_exact_intervals_equal_scipy(k, n, level):
    for ours, method in ((wilson(k / n, n, level), "wilson"), (clopper_pearson(k, n, level), "exact")):
        theirs = binomtest(k, n).proportion_ci(level, method=method)
        assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


@pytest.mark.parametrize(("k", "n", "size"), [(0, 5, 30), (5, 5, 30), (3, 8, 30), (1, 1, 2), (28, 29, 30)])
def test_hypergeometric_interval_equals_brute_force(k, n, size):
    kept = [
        marked
        for marked in range(k, size - (n - k) + 1)
        if hypergeom.sf(k - 1, size, marked, n) > 0.025 and hypergeom.cdf(k, size, marked, n) > 0.025
    ]
    interval = hypergeometric(k, n, size)
    assert (interval.low, interval.high) == pytest.approx((kept[0] / size, kept[-1] / size))


def test_hypergeometric_interval_covers_for_every_population():
    size, n = 40, 12
    intervals = [hypergeometric(k, n, size) for k in range(n + 1)]
    for marked in range(size + 1):
        held = sum(
            hypergeom.pmf(k, size, marked, n) for k, i in enumerate(intervals) if i.covers(marked / size)
        )
        assert held >= 0.95 - 1e-9


def test_design_interval_equals_wilson_for_a_simple_random_sample():
    n, value = 150, 0.9
    interval = DesignInterval(value, value * (1 - value) / n, n, 0.01, 0.99).at(0.95)
    expected = wilson(value, n)
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize("value", [1.02, 1.0, 0.0, -0.1, 0.5])
@pytest.mark.parametrize("variance", [0.0, 1e-4, 4.0])
def test_design_interval_stays_inside_what_is_known(value, variance):
    interval = DesignInterval(value, variance, 50, floor=0.2, ceiling=0.97).at(0.95)
    assert 0.2 <= interval.low <= interval.high <= 0.97


def test_without_any_variance_the_number_of_draws_counts():
    # Student's 97.5 % point for 4 degrees of freedom is 2.776; the normal one for level Φ(2.776) gives the same.
    wider = DesignInterval(0.9, 0.001, 50, 0.01, 0.99, freedom=4.0).at(0.95)
    same = wilson(0.9, 0.9 * 0.1 / 0.001, 2 * 0.99724850 - 1)
    assert (wider.low, wider.high) == pytest.approx((same.low, same.high), abs=1e-4)
    assert DesignInterval(1.0, 0.0, 50, 0.01, 1.0).at(0.95).low == pytest.approx(wilson(1.0, 50).low)


def test_a_sample_of_one_kind_cannot_exclude_that_there_is_no_other():
    assert DesignInterval(0.98, 1e-6, 50, 0.01, 1.0).at(0.95).high == 1.0
    assert DesignInterval(0.02, 1e-6, 50, 0.0, 0.99).at(0.95).low == 0.0


@pytest.mark.parametrize("level", [0, 1, 95, -0.1])
def test_a_level_is_a_probability(level):
    with pytest.raises(ValueError, match="between 0 and 1"):
        ExactInterval(3, 5, 10).at(level)
    with pytest.raises(ValueError, match="between 0 and 1"):
        wilson(0.5, 5, level)


def test_interval_knows_width_and_ends():
    interval = Interval(0.25, 0.75)
    assert interval.width == 0.5
    assert interval.covers(0.25)
    assert interval.covers(0.75)
    assert not interval.covers(np.nextafter(0.75, 1))
