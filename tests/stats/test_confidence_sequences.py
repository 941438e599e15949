"""Sequences of a mean: they hardly ever miss, shrink, and say at once what is known for certain."""

from itertools import pairwise

import numpy as np
import pytest

from app.stats.confidence_sequences import Bets


def independent(values, prior=0.5, is_bet=True):
    """Independent draws in [0, 1], of which nothing is known for certain."""
    values = np.asarray(values, dtype=np.float64)
    zeros, ones = np.zeros(values.size), np.ones(values.size)
    return Bets(values, zeros, ones, np.full(values.size, is_bet), zeros, ones, prior)


@pytest.mark.parametrize("mean", [0.03, 0.5, 0.9])
@pytest.mark.parametrize("prior", [0.05, 0.5])
def test_sequences_miss_less_often_than_they_may(mean, prior):
    rng = np.random.default_rng(0)
    misses = 0
    for _ in range(60):
        found = independent(rng.random(150) < mean, prior).confidence_sequence(0.9)
        misses += not all(mean in interval for interval in found)
        for before, after in pairwise(found):
            assert before.low <= after.low <= after.high <= before.high
    assert misses <= 12  # 6 expected at most; more than 12 has probability 0.6 % then


def test_sequences_shrink_to_the_mean():
    last = independent(np.random.default_rng(1).beta(2, 6, 4000)).confidence_sequence()[-1]
    assert 0.25 in last
    assert last.width < 0.03


def test_what_is_known_bounds_the_sequence():
    bets = independent([0.5, 0.5], is_bet=False)
    assert [each.width for each in bets.confidence_sequence()] == [1, 1]  # nothing was bet, nothing is known
    known = Bets(*[np.zeros(2)] * 3, np.zeros(2, dtype=bool), np.array([0.1, 0.2]), np.array([0.9, 0.7]))
    assert [(each.low, each.high) for each in known.confidence_sequence(0.8)] == [(0.1, 0.9), (0.2, 0.7)]


def test_bets_go_on_where_they_stopped():
    values = np.random.default_rng(2).random(30)
    whole = independent(values, 0.2).confidence_sequence()
    assert independent(values[:11], 0.2).then(independent(values[11:], 0.9)).confidence_sequence() == whole
    assert independent(values[:11], 0.2).confidence_sequence() == whole[:11]


def test_no_draws_have_no_intervals():
    assert independent([]).confidence_sequence() == ()


@pytest.mark.parametrize("level", [0.0, 1.0, 95])
def test_a_level_is_a_probability(level):
    with pytest.raises(ValueError, match="between 0 and 1"):
        independent([0.5]).confidence_sequence(level)
