"""Draws: inclusion probabilities and conditional probabilities are what they claim to be."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.estimation.draws import mixture_draws, systematic


def test_systematic_sampling_has_the_wanted_inclusion_probabilities():
    probabilities = np.array([1.0, 0.5, 0.25, 0.75, 0.1, 0.4])
    rng = np.random.default_rng(0)
    order = np.array([3, 1, 0, 2, 5, 4])
    drawn = np.zeros(6)
    for _ in range(4000):
        sample = systematic(probabilities, order, 3, rng)
        assert len(set(sample.tolist())) == 3
        drawn[sample] += 1
    assert drawn / 4000 == pytest.approx(probabilities, abs=4 * 0.5 / np.sqrt(4000))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(1e-6, 1.0), min_size=2, max_size=40), st.data())
def test_systematic_sampling_never_takes_a_case_twice(scores, data):
    size = data.draw(st.integers(1, len(scores)))
    probabilities = np.asarray(scores)
    for _ in range(100):
        probabilities = np.minimum(probabilities * size / probabilities.sum(), 1.0)
    sample = systematic(probabilities, np.arange(len(scores)), size, np.random.default_rng(0))
    assert len(set(sample.tolist())) == size
    assert sample.min() >= 0
    assert sample.max() < len(scores)


def conditional(weights, share, taken):
    """q over all cases given the ones taken, straight from the definition."""
    left = [i for i in range(len(weights)) if i not in taken]
    mass = sum(weights[i] for i in left)
    d = share if mass > 0 else 0.0
    return {i: (d * weights[i] / mass if mass > 0 else 0) + (1 - d) / len(left) for i in left}


def test_draws_report_the_conditional_probability_of_the_definition():
    weights = np.array([0.0, 2.0, 1.0, 0.0, 0.5, 0.0])
    for seed in range(20):
        draws = mixture_draws(weights, 0.7, 6, np.random.default_rng(seed))
        for k, case in enumerate(draws.cases.tolist()):
            assert draws.q[k] == pytest.approx(conditional(weights, 0.7, draws.cases[:k].tolist())[case])


def test_sequences_come_as_often_as_the_definition_says():
    weights, share, rounds = np.array([3.0, 1.0, 0.0, 0.5]), 0.6, 6_000
    rng = np.random.default_rng(1)
    seen: dict[tuple[int, ...], int] = {}
    for _ in range(rounds):
        order = tuple(mixture_draws(weights, share, 3, rng).cases.tolist())
        seen[order] = seen.get(order, 0) + 1
    statistic = 0.0
    for order in itertools.permutations(range(4), 3):
        chance = 1.0
        for k, case in enumerate(order):
            chance *= conditional(weights, share, order[:k])[case]
        statistic += (seen.get(order, 0) - rounds * chance) ** 2 / (rounds * chance)
    assert statistic < 49.7  # chi-squared with 23 degrees of freedom, 1 in 1000


def test_first_draw_can_be_uniform_and_all_cases_can_be_drawn():
    draws = mixture_draws(np.array([1.0, 0.0, 5.0]), 0.9, 3, np.random.default_rng(0), uniform_first=True)
    assert sorted(draws.cases.tolist()) == [0, 1, 2]
    assert draws.q[0] == pytest.approx(1 / 3)
    assert draws.share[0] == 0
    assert not draws.weighted[0]


def test_no_weights_mean_uniform_draws():
    draws = mixture_draws(np.zeros(5), 0.8, 5, np.random.default_rng(0))
    assert draws.q == pytest.approx(1 / np.array([5, 4, 3, 2, 1]))
    assert not draws.weighted.any()
