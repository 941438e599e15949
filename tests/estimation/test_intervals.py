"""Design intervals: Wilson's for a simple random sample, and never past what is known."""

from __future__ import annotations

import pytest

from app.estimation.intervals import DesignInterval, ExactInterval
from app.stats import Interval
from app.stats.proportions import clopper_pearson, finite_population, wilson


def test_design_interval_equals_wilson_for_a_simple_random_sample():
    n, value = 150, 0.9
    interval = DesignInterval(value, value * (1 - value) / n, n, 0.01, 0.99).at(0.95)
    expected = wilson(value * n, n)
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize("value", [1.02, 1.0, 0.0, -0.1, 0.5])
@pytest.mark.parametrize("variance", [0.0, 1e-4, 4.0])
def test_design_interval_stays_inside_what_is_known(value, variance):
    interval = DesignInterval(value, variance, 50, floor=0.2, ceiling=0.97).at(0.95)
    assert 0.2 <= interval.low <= interval.high <= 0.97


def test_without_any_variance_the_number_of_draws_counts():
    # Student's 97.5 % point for 4 degrees of freedom is 2.776; the normal one for level Φ(2.776) gives the same.
    wider = DesignInterval(0.9, 0.001, 50, 0.01, 0.99, freedom=4.0).at(0.95)
    same = wilson(0.9 * 90, 90, 2 * 0.99724850 - 1)
    assert (wider.low, wider.high) == pytest.approx((same.low, same.high), abs=1e-4)
    assert DesignInterval(1.0, 0.0, 50, 0.01, 1.0).at(0.95).low == wilson(50, 50).low


def test_a_sample_of_one_kind_cannot_exclude_that_there_is_no_other():
    assert DesignInterval(0.98, 1e-6, 50, 0.01, 1.0).at(0.95).high == 1.0
    assert DesignInterval(0.02, 1e-6, 50, 0.0, 0.99).at(0.95).low == 0.0


@pytest.mark.parametrize("level", [0, 1, 95, -0.1])
def test_a_level_is_a_probability(level):
    with pytest.raises(ValueError, match="between 0 and 1"):
        ExactInterval(3, 5, 10).at(level)
    with pytest.raises(ValueError, match="between 0 and 1"):
        DesignInterval(0.5, 0.01, 5).at(level)


def test_exact_intervals_are_those_of_the_draws():
    assert ExactInterval(3, 5, None).at(0.9) == clopper_pearson(3, 5, 0.9)
    assert ExactInterval(3, 5, 10).at(0.9) == finite_population(3, 5, 10, 0.9)
    assert DesignInterval(0.5, 0.01, 5).at(0.9).level == 0.9


@pytest.mark.parametrize(("value", "variance"), [(float("nan"), 0.01), (0.9, float("inf"))])
def test_an_estimate_that_says_nothing_leaves_what_is_known(value, variance):
    assert DesignInterval(value, variance, 50, 0.2, 0.97).at(0.9) == Interval(0.2, 0.97, 0.9)
    assert DesignInterval(value, variance, 50).at(0.9) == Interval(0.0, 1.0, 0.9)
