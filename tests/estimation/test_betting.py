"""Always-valid sequences: Z is a martingale difference, its range is right, and the sequence hardly ever misses."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from app.estimation import LURE, SRSWOR, Adaptive, ArrayOracle, DeepEST, Population
from app.estimation.betting import SequenceInterval, certain_bets, drawn_bets
from app.estimation.draws import SequentialDraws, mixture_draws
from app.estimation.simple import simple_bets
from app.estimation.stopping import stops


def population_of(size: int, seed: int) -> tuple[Population, np.ndarray]:
    rng = np.random.default_rng(seed)
    confidence = rng.beta(6, 1, size)
    failures = rng.random(size) > confidence
    columns = {"confidence": confidence, "dsa": rng.gamma(3, 1, size) + failures}
    return Population("demo", np.arange(size).astype(str), columns), failures


@pytest.mark.parametrize(
    "estimator", [SRSWOR(), DeepEST(), LURE(), Adaptive(target_width=0.01)], ids=lambda e: e.name
)
def test_sequences_miss_less_often_than_they_may(estimator):
    population, failures = population_of(600, 1)
    truth = 1 - failures.mean()
    misses = 0
    runs = 60
    for seed in range(runs):
        estimate = estimator.run(population, ArrayOracle(failures), 80, np.random.default_rng(seed))
        sequence = estimate.sequence(0.9)
        misses += not all(interval.covers(truth) for interval in sequence)
        for before, after in pairwise(sequence):
            assert after.low >= before.low
            assert after.high <= before.high
    assert misses <= 12  # 6 expected at most; more than 12 has probability 0.6 % then


def test_estimates_are_unbiased_given_the_past_and_bounds_hold():
    # After one known draw, average Z over every possible second draw: it must be the failure rate.
    outcomes = np.array([1.0, 0.0, 1.0, 0.0, 0.0])
    weights, controls = np.array([2.0, 0.0, 1.0, 1.0, 0.5]), np.array([0.6, 0.1, 0.5, 0.2, 0.3])
    share, first = 0.7, 0
    left = [1, 2, 3, 4]
    mass = weights[left].sum()
    mean = 0.0
    for case in left:
        q = share * weights[case] / mass + (1 - share) / 4
        draws = SequentialDraws(
            np.array([first, case]),
            np.array([0.2, q]),
            np.array([True, True]),
            np.array([weights.sum(), mass]),
            np.array([share, share]),
        )
        bets = drawn_bets(
            draws, outcomes[[first, case]], weights, controls, total=8, failures_before=2, correct_before=1
        )
        mean += q * bets.estimates[1]
        assert bets.lows[1] - 1e-12 <= bets.estimates[1] <= bets.highs[1] + 1e-12
        assert bets.known_low[-1] == pytest.approx((2 + 1 + outcomes[case]) / 8)
        assert bets.known_high[-1] == pytest.approx(1 - (1 + 1 - outcomes[case]) / 8)
    assert mean == pytest.approx((2 + outcomes.sum()) / 8)


def test_estimates_stay_within_their_ranges_in_long_runs():
    rng = np.random.default_rng(5)
    weights = np.where(rng.random(200) < 0.3, rng.random(200), 0.0)
    controls = rng.random(200) / 2
    outcomes = (rng.random(200) < 0.3).astype(float)
    for uniform_first in (False, True):
        draws = mixture_draws(weights, 0.8, 150, rng, uniform_first)
        bets = drawn_bets(draws, outcomes[draws.cases], weights, controls, total=200)
        assert (bets.estimates >= bets.lows - 1e-9).all()
        assert (bets.estimates <= bets.highs + 1e-9).all()


def test_simple_bets_agree_with_the_general_ones():
    rng = np.random.default_rng(0)
    outcomes = (rng.random(50) < 0.2).astype(float)
    draws = mixture_draws(np.zeros(50), 0.0, 20, rng)
    general = drawn_bets(draws, outcomes[draws.cases], np.zeros(50), np.zeros(50), total=50)
    simple = simple_bets(outcomes[draws.cases], 50)
    assert general.estimates == pytest.approx(simple.estimates)
    assert (general.highs >= simple.highs - 1e-12).all()
    assert general.known_low == pytest.approx(simple.known_low)


def test_certain_cases_are_no_bets_but_count_as_known():
    bets = certain_bets(np.array([1.0, 1.0, 0.0]), 10, 1.0, 0.0, 0.2)
    assert not bets.is_bet.any()
    last = bets.confidence_sequence(0.95)[-1]
    assert (last.low, last.high) == pytest.approx((0.3, 0.9))
    assert SequenceInterval(bets).at(0.95) == last.complement
    both = bets.then(simple_bets(np.array([0.0]), 10))
    assert both.is_bet.tolist() == [False, False, False, True]


def test_a_target_width_stops_early_and_says_so():
    population, failures = population_of(2000, 2)
    for estimator in (SRSWOR(target_width=0.3), LURE(target_width=0.3), Adaptive(target_width=0.3)):
        estimate = estimator.run(population, ArrayOracle(failures), 1500, np.random.default_rng(0))
        assert estimate.cost < 1500
        assert estimate.cost % 20 == 0
        assert estimate.interval(0.95).width <= 0.3
        assert estimate.interval_method.name == "always valid"
        assert estimate.interval(0.95) == estimate.sequence(0.95)[-1]


def test_a_complete_census_leaves_the_truth_alone():
    outcomes = np.array([1.0, 0.0, 0.0, 1.0, 0.0])
    last = SequenceInterval(simple_bets(outcomes, 5)).at(0.95)
    assert (last.low, last.high) == pytest.approx((0.6, 0.6))


def test_no_width_is_narrow_enough_before_the_first_draw():
    assert not stops(0.99, simple_bets(np.zeros(0), 5))
    assert stops(0.99, simple_bets(np.zeros(4), 5))
