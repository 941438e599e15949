"""The cheapest cut of a series into levels, as PELT finds it in ruptures."""

import numpy as np
import pytest

from app.stats.change_points import PENALTY, SHORTEST, _segments, changes

pytestmark = pytest.mark.oracles


def by_pelt(numbers):
    ruptures = pytest.importorskip("ruptures")
    search = ruptures.Pelt(model="l2", min_size=SHORTEST, jump=1).fit(numbers[:, None])
    return [0, *search.predict(pen=PENALTY)[:-1]]


@pytest.mark.parametrize("size", [8, 20, 60, 200])
def test_levels_begin_where_they_do_there(size):
    rng = np.random.default_rng(size)
    moved = 0
    for _ in range(40):
        steps = np.sort(rng.integers(0, size, 3))
        numbers = rng.normal(0, 1, size) + sum(rng.normal(0, 4) * (np.arange(size) >= step) for step in steps)
        found = _segments(numbers)
        assert found == by_pelt(numbers)
        moved += len(found) > 1
    assert moved >= 20


def test_a_series_is_cut_there_in_units_of_its_noise():
    rng = np.random.default_rng(1)
    values = rng.normal(0.9, 0.01, 80) - 0.08 * (np.arange(80) >= 47)
    found = changes(values)
    assert [each.start for each in found.levels] == by_pelt(values / found.noise) == [0, 47]
