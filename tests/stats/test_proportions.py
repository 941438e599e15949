"""Intervals of a share against SciPy, brute force, and their promise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.stats import binomtest, hypergeom

from app.stats.proportions import clopper_pearson, finite_population, upper_bound, wilson


@pytest.mark.parametrize(("hits", "trials"), [(0, 10), (10, 10), (3, 10), (171, 213), (190, 200), (1, 1)])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_wilson_and_exact_intervals_equal_scipy(hits, trials, level):
    for ours, method in (
        (wilson(hits, trials, level), "wilson"),
        (clopper_pearson(hits, trials, level), "exact"),
    ):
        theirs = binomtest(hits, trials).proportion_ci(level, method=method)
        assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
        assert ours.level == level
        assert hits / trials in ours


def test_at_none_and_all_the_ends_are_exact():
    for trials in range(1, 200):
        for interval in (wilson, clopper_pearson):
            assert interval(0, trials).low == 0.0
            assert interval(trials, trials).high == 1.0


def test_an_effective_number_of_trials_may_be_fractional():
    # Halfway between two whole numbers of trials the ends lie between theirs.
    ends = [wilson(0.3 * trials, trials) for trials in (20, 20.5, 21)]
    assert ends[0].low < ends[1].low < ends[2].low
    # Student's 97.5 % point for 4 degrees of freedom is that of the normal distribution for level 2 Φ(2.776) - 1.
    wider, same = wilson(81, 90, freedom=4.0), wilson(81, 90, 2 * stats.norm.cdf(stats.t.ppf(0.975, 4)) - 1)
    assert (wider.low, wider.high) == pytest.approx((same.low, same.high), abs=1e-12)


@pytest.mark.parametrize(("count", "trials"), [(0, 10), (3, 10), (17, 400)])
def test_upper_bound_equals_clopper_pearson(count, trials):
    expected = binomtest(count, trials).proportion_ci(0.90, method="exact").high
    assert upper_bound(count, trials) == pytest.approx(expected)


def test_a_bound_of_noise_is_never_too_small():
    assert upper_bound(10, 10) == upper_bound(12, 10) == upper_bound(0, 0) == 1.0


@pytest.mark.parametrize(("k", "n", "size"), [(0, 5, 30), (5, 5, 30), (3, 8, 30), (1, 1, 2), (28, 29, 30)])
def test_the_interval_of_a_finite_population_equals_brute_force(k, n, size):
    kept = [
        marked
        for marked in range(k, size - (n - k) + 1)
        if hypergeom.sf(k - 1, size, marked, n) > 0.025 and hypergeom.cdf(k, size, marked, n) > 0.025
    ]
    interval = finite_population(k, n, size)
    assert (interval.low, interval.high) == pytest.approx((kept[0] / size, kept[-1] / size))


def test_the_interval_of_a_finite_population_covers_for_every_population():
    size, n = 40, 12
    intervals = [finite_population(k, n, size) for k in range(n + 1)]
    for marked in range(size + 1):
        held = sum(
            hypergeom.pmf(k, size, marked, n) for k, i in enumerate(intervals) if i.covers(marked / size)
        )
        assert held >= 0.95 - 1e-9


@pytest.mark.parametrize("interval", [wilson, clopper_pearson, lambda k, n: finite_population(k, n, 30)])
def test_without_trials_nothing_is_known(interval):
    assert not interval(0, 0).known
    assert np.isnan(interval(0, 0).width)


@pytest.mark.parametrize("interval", [wilson, clopper_pearson, lambda k, n: finite_population(k, n, 30)])
@pytest.mark.parametrize(("hits", "trials"), [(-1, 5), (6, 5), (0, -1), (float("nan"), 5)])
def test_counts_that_cannot_be_are_refused(interval, hits, trials):
    with pytest.raises(ValueError, match="can succeed"):
        interval(hits, trials)


def test_no_more_can_be_drawn_than_there_are():
    with pytest.raises(ValueError, match="without replacement"):
        finite_population(3, 31, 30)


@pytest.mark.parametrize("level", [0, 1, 95, -0.1, float("nan")])
def test_a_level_is_a_probability(level):
    for interval in (wilson, clopper_pearson, upper_bound, lambda k, n, a: finite_population(k, n, 30, a)):
        for trials in (0, 5):
            with pytest.raises(ValueError, match="between 0 and 1"):
                interval(0, trials, level)
