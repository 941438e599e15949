"""CES against recounting, its compatible faults, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from app.errors import UserError
from app.estimation import CES, ArrayOracle, Population, Reason
from app.estimation.cross_entropy import Divergence, interval_codes, random_groups


def recounted(codes, sample, intervals):
    """Mean KL of the sample's histograms against the population's, from nothing."""
    total = 0.0
    for column in codes.T:
        everything = np.bincount(column, minlength=intervals + 1)[:intervals] / len(column)
        mine = np.bincount(column[sample], minlength=intervals + 1)[:intervals] / len(sample)
        there = mine > 0
        total += (mine[there] * np.log(mine[there] / everything[there])).sum()
    return total / codes.shape[1]


@pytest.mark.parametrize("strict", [False, True])
def test_divergence_equals_recounting(strict):
    rng = np.random.default_rng(0)
    neurons = np.maximum(np.round(rng.normal(size=(80, 5)), 1), 0)
    codes = interval_codes(neurons, 4, strict)
    divergence = Divergence(codes, 4, 30)
    sample = [3, 7, 9, 11]
    divergence.add(np.array(sample))
    assert divergence.value == pytest.approx(recounted(codes, sample, 4))
    groups = rng.permuted(np.tile(np.arange(20, 80), (12, 1)), axis=1)[:, :5]
    expected = [recounted(codes, [*sample, *group], 4) for group in groups.tolist()]
    assert divergence.with_groups(groups) == pytest.approx(expected)
    divergence.add(groups[2])
    assert divergence.value == pytest.approx(expected[2])


def test_values_on_edges_count_unless_compatible():
    neurons = np.array([[0.0], [0.0], [1.0], [4.0], [2.5]])
    assert interval_codes(neurons, 4)[:, 0].tolist() == [0, 0, 1, 3, 2]
    assert interval_codes(neurons, 4, strict=True)[:, 0].tolist() == [4, 4, 4, 4, 2]
    assert interval_codes(np.ones((3, 1)), 4)[:, 0].tolist() == [0, 0, 0]


def made(size=300):
    rng = np.random.default_rng(1)
    neurons = np.maximum(rng.normal(size=(size, 6)), 0)
    return Population("p", np.arange(size).astype(str), neurons=neurons), neurons[:, 0] > 1.2


def test_sample_comes_closer_to_the_population_than_a_random_one():
    population, failures = made()
    codes = interval_codes(population.neurons, 20)
    estimate = CES().run(population, ArrayOracle(failures), 60, np.random.default_rng(0))
    random = [recounted(codes, np.random.default_rng(s).permutation(300)[:60], 20) for s in range(20)]
    assert recounted(codes, estimate.sampled, 20) < min(random)
    assert estimate.value == 1 - failures[estimate.sampled].mean()
    assert estimate.cost == 60
    assert estimate.reasons[:30] == (Reason.UNIFORM,) * 30
    assert Reason.GROUP in estimate.reasons


def test_it_claims_neither_lack_of_bias_nor_an_interval():
    population, failures = made()
    estimate = CES().run(population, ArrayOracle(failures), 40, np.random.default_rng(0))
    assert not estimate.unbiased
    assert np.isnan(estimate.se)
    assert "biased" in estimate.notes[0]
    with pytest.raises(ValueError, match="ces has no honest interval"):
        estimate.interval()


def test_compatible_may_pick_a_case_twice():
    population, failures = made(40)
    estimate = CES(start=5, compatible=True).run(
        population, ArrayOracle(failures), 39, np.random.default_rng(0)
    )
    assert len(estimate.sampled) == 39
    assert estimate.cost < 39


@pytest.mark.parametrize("budget", [1, 3, 30, 31, 36, 39])
def test_any_budget_is_met_exactly(budget):
    population, failures = made(40)
    estimate = CES(groups=7).run(population, ArrayOracle(failures), budget, np.random.default_rng(0))
    assert len(set(estimate.sampled.tolist())) == budget


def test_groups_are_distinct_inside():
    for left in (np.arange(10, 16), np.arange(10, 60)):
        groups = random_groups(left, 200, 5, np.random.default_rng(0))
        assert groups.shape == (200, 5)
        assert all(len(set(group)) == 5 for group in groups.tolist())
        assert np.isin(groups, left).all()


def test_neurons_are_needed_and_parameters_checked():
    with pytest.raises(UserError, match="population 'p' has none"):
        CES().run(Population("p", np.array(["a", "b"])), ArrayOracle([0, 1]), 1, np.random.default_rng(0))
    with pytest.raises(ValueError, match="groups is a count"):
        CES(groups=0)
