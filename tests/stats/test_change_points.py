"""Changes of level: seldom marked where there is only noise, found where there is one, as by trying all cuts."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from app.stats import change_points
from app.stats.change_points import PENALTY, SHORTEST, changes, noise


def places(values):
    return [each.index for each in changes(values).points]


@pytest.mark.parametrize("n", [8, 9, 15, 60])
def test_noise_alone_is_seldom_marked(n):
    rng = np.random.default_rng(n)
    marked = sum(bool(places(rng.normal(0.9, 0.01, n))) for _ in range(400))
    assert marked <= 0.05 * 400


def test_rates_and_counts_that_only_scatter_are_seldom_marked():
    rng = np.random.default_rng(1)
    rates = sum(bool(places(rng.binomial(200, 0.95, 40) / 200)) for _ in range(200))
    counts = sum(bool(places(rng.poisson(2, 40))) for _ in range(200))
    assert max(rates, counts) <= 0.05 * 200


@pytest.mark.parametrize(("n", "share"), [(20, 0.8), (60, 0.9)])
def test_a_step_of_three_times_the_noise_is_found_where_it_is(n, share):
    rng = np.random.default_rng(2)
    near = right = 0
    for _ in range(200):
        step = int(rng.integers(n // 4, 3 * n // 4))
        found = places(rng.normal(0, 1, n) + 3 * (np.arange(n) >= step))
        near += any(abs(each - step) <= 1 for each in found)
        right += found == [step]
    assert near >= share * 200
    assert right >= 0.7 * 200


def test_levels_are_means_and_the_noise_is_that_about_them():
    rng = np.random.default_rng(3)
    values = rng.normal(0, 2, 400) + np.repeat([0, 10, 30, 5], 100)
    found = changes(values)
    assert [each.index for each in found.points] == [100, 200, 300]
    assert [each.mean for each in found.levels] == pytest.approx([0, 10, 30, 5], abs=0.7)
    assert found.noise == pytest.approx(2, rel=0.15)
    assert [each.difference > 0 for each in found.points] == [True, True, False]


def cuts(n, first=0):
    """All ways to cut n numbers into levels of SHORTEST and more: lists of their ends."""
    if n - first >= SHORTEST:
        yield [n]
    for stop in range(first + SHORTEST, n - SHORTEST + 1):
        for rest in cuts(n, stop):
            yield [stop, *rest]


@pytest.mark.parametrize("seed", range(12))
def test_the_cut_is_the_cheapest_of_all(seed):
    rng = np.random.default_rng(seed)
    n = 9 + seed % 6
    values = rng.normal(0, 1, n) + 6 * (np.arange(n) >= n // 3) - 9 * (np.arange(n) >= n - 3)
    sigma = noise(values)

    def cost(ends):
        parts = [values[start:stop] for start, stop in pairwise([0, *ends])]
        return sum(((part - part.mean()) ** 2).sum() for part in parts) / sigma**2 + PENALTY * (len(ends) - 1)

    best = min(cuts(n), key=cost)
    assert change_points._segments(values / sigma) == [0, *best[:-1]]


def test_equal_numbers_have_no_noise_and_no_change():
    assert changes([0.5] * 30) == change_points.Changes(0.0, (change_points.Level(0, 30, 0.5),))


def test_a_lasting_change_of_equal_numbers_is_found_and_a_passing_one_is_not():
    assert places([0.91] * 5 + [0.92] * 4) == [5]
    assert places([0.91] * 100 + [0.92] * 3) == [100]
    assert places([0.91] * 9 + [0.2] + [0.91] * 9) == []
    assert places([0.91] * 9 + [0.2, 0.3] + [0.91] * 9) == []
    assert places([0.91] * 19 + [0.2]) == []


def test_rounding_of_other_devices_is_no_change():
    assert places([0.91] * 6 + [0.91 * (1 + 5e-6)] * 6) == []
    assert places([0.0] * 20) == []


def test_an_outlier_of_noisy_numbers_is_no_level():
    rng = np.random.default_rng(4)
    values = rng.normal(0, 1, 40)
    values[20] = 30
    values[33] = -50
    assert places(values) == []


def test_gaps_keep_their_places():
    values = [0.9, math.nan] * 8 + [0.8, math.nan, math.nan] * 8
    found = changes(values)
    assert [each.index for each in found.points] == [16]
    assert [(each.start, each.stop) for each in found.levels] == [(0, 16), (16, 40)]


@pytest.mark.parametrize("values", [[], [math.nan] * 3])
def test_no_numbers_have_no_levels(values):
    found = changes(values)
    assert math.isnan(found.noise)
    assert found.levels == found.points == ()


def test_few_numbers_have_a_level_and_no_known_noise():
    found = changes([math.nan, 1.0, 2.0, 30.0, 30.0, 30.0])
    assert math.isnan(found.noise)
    assert found.levels == (change_points.Level(0, 6, pytest.approx(93 / 5)),)


def test_units_and_directions_do_not_matter():
    rng = np.random.default_rng(5)
    values = rng.normal(0, 1, 50) + 4 * (np.arange(50) >= 31)
    assert places(values) == places(-1000 * values) == places(1e-3 * values) == [31]
    assert places(values[::-1]) == [19]


def test_the_noise_of_normal_numbers_is_their_deviation():
    rng = np.random.default_rng(6)
    found = [noise(rng.normal(5, 0.3, 50)) for _ in range(200)]
    assert np.mean(found) == pytest.approx(0.3, rel=0.05)
