"""Intervals of a share, effects and the hybrid interval of two shares, as statsmodels computes them."""

import numpy as np
import pytest

from app.comparison.differences import shares
from app.stats.effects import cohens_h
from app.stats.proportions import clopper_pearson, upper_bound, wilson

pytestmark = pytest.mark.oracles
COUNTS = [(k, n) for n in (1, 2, 7, 40, 213, 10_000) for k in {0, 1, n // 3, n - 1, n}]


@pytest.fixture(scope="module")
def proportion():
    return pytest.importorskip("statsmodels.stats.proportion")


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize(("interval", "method"), [(wilson, "wilson"), (clopper_pearson, "beta")])
def test_intervals_of_a_share(proportion, interval, method, level):
    for hits, trials in COUNTS:
        expected = proportion.proportion_confint(hits, trials, alpha=1 - level, method=method)
        found = interval(hits, trials, level)
        assert (found.low, found.high) == pytest.approx(expected, abs=1e-12)


def test_a_one_sided_bound_is_an_end_of_the_interval_at_twice_the_error(proportion):
    for hits, trials in COUNTS:
        expected = proportion.proportion_confint(hits, trials, alpha=0.1, method="beta")[1]
        assert upper_bound(hits, trials, 0.95) == pytest.approx(expected, abs=1e-12)


def test_the_effect_size_of_two_shares(proportion):
    grid = np.linspace(0, 1, 11)
    assert cohens_h(grid[:, None], grid) == pytest.approx(
        proportion.proportion_effectsize(grid[:, None], grid)
    )


@pytest.mark.parametrize(
    ("before", "after"), [((48, 80), (56, 70)), ((0, 20), (3, 30)), ((9, 9), (1, 12)), ((5, 10), (5, 10))]
)
def test_the_hybrid_score_interval_of_two_shares(proportion, before, after):
    expected = proportion.confint_proportions_2indep(*after, *before, method="newcomb", compare="diff")
    assert shares(before, after).ci == pytest.approx(expected, abs=1e-9)
