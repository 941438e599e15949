import math

import numpy as np
import pytest

from app.stats.interval import Interval, Intervals, check_level


def test_an_interval_knows_width_and_ends():
    interval = Interval(0.25, 0.75)
    assert interval.width == 0.5
    assert interval.covers(0.25)
    assert 0.75 in interval
    assert np.nextafter(0.75, 1) not in interval
    assert interval.level == 0.95


def test_an_unknown_interval_covers_nothing():
    unknown = Interval.unknown(0.9)
    assert not unknown.known
    assert math.isnan(unknown.width)
    assert 0.5 not in unknown
    assert not unknown.complement.known
    assert (unknown.level, unknown.complement.level) == (0.9, 0.9)


def test_the_complement_of_a_failure_rate_is_the_accuracy():
    assert Interval(0.125, 0.25, 0.8).complement == Interval(0.75, 0.875, 0.8)


def test_ends_that_are_the_wrong_way_round_are_refused():
    with pytest.raises(ValueError, match="from its low to its high end"):
        Interval(0.7, 0.2)
    assert Interval(0.2, 0.2).width == 0


@pytest.mark.parametrize("level", [0, 1, 95, -0.1, math.nan])
def test_a_level_is_a_probability(level):
    for made in (check_level, lambda each: Interval(0, 1, each), Interval.unknown):
        with pytest.raises(ValueError, match="between 0 and 1"):
            made(level)


def test_many_intervals_give_one():
    both = Intervals(np.array([0.1, np.nan]), np.array([0.3, np.nan]), 0.9)
    assert both[0] == Interval(0.1, 0.3, 0.9)
    assert not both[1].known
