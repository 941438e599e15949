import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from app.comparison.differences import (
    copied,
    independent,
    paired_means,
    paired_shares,
    pooled,
    resampled,
    shares,
)


def sides(both, lost, gained, neither):
    before = [True] * both + [True] * lost + [False] * gained + [False] * neither
    after = [True] * both + [False] * lost + [True] * gained + [False] * neither
    return np.array(before, dtype=bool), np.array(after, dtype=bool)


@pytest.mark.parametrize(("lost", "gained"), [(0, 0), (1, 0), (12, 3), (3, 12), (7, 7), (60, 30)])
def test_the_paired_test_is_the_exact_one(lost, gained):
    found = paired_shares(*sides(100, lost, gained, 9))
    pairs = lost + gained
    oracle = stats.binomtest(lost, pairs, 0.5).pvalue if pairs else 1.0
    assert found.p_value == pytest.approx(oracle)
    assert found.value == pytest.approx((gained - lost) / (109 + pairs))
    assert found.ci[0] <= found.value <= found.ci[1]
    assert found.n == 109 + pairs


def test_the_published_example_of_the_hybrid_score_interval():
    """Newcombe 1998, table II, (a): 56 of 70 against 48 of 80, method 10."""
    found = shares((48, 80), (56, 70))
    assert found.value == pytest.approx(0.2)
    assert found.ci == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert found.method == "intervals"
    assert not found.noise


def test_paired_means_are_the_t_test():
    rng = np.random.default_rng(0)
    before, after = rng.random(30), rng.random(30)
    found, oracle = paired_means(before, after), stats.ttest_rel(after, before)
    assert found.p_value == pytest.approx(oracle.pvalue)
    assert found.ci == pytest.approx(tuple(oracle.confidence_interval()))


def test_nothing_to_compare_is_nothing():
    none = np.zeros(0, dtype=bool)
    assert paired_shares(none, none) is None
    assert shares((0, 0), (1, 2)) is None
    assert independent(0.5, None, 0.6, (0.5, 0.7)) is None
    assert paired_means(np.array([1.0, np.nan]), np.array([1.0, 2.0])) is None
    assert resampled(0.1, np.zeros(0), paired=True) is None
    assert pooled([], []) is None


def test_mutants_that_all_moved_alike_are_certain():
    found = paired_means(np.array([0.1, 0.2]), np.array([0.3, 0.4]))
    assert not found.noise
    assert paired_means(np.ones(3), np.ones(3)).noise


@given(
    st.tuples(st.integers(0, 40), st.integers(1, 40)).filter(lambda pair: pair[0] <= pair[1]),
    st.tuples(st.integers(0, 40), st.integers(1, 40)).filter(lambda pair: pair[0] <= pair[1]),
)
def test_the_p_of_independent_numbers_fits_their_interval(before, after):
    found = shares(before, after)
    if found.value != 0:
        assert (found.p_value > 0.05 + 1e-9) <= (found.ci[0] <= 0 <= found.ci[1])
        assert (found.ci[0] > 0 or found.ci[1] < 0) <= (found.p_value < 0.05 + 1e-9)
    assert found.ci[0] <= found.value <= found.ci[1]


def test_bootstrap_draws_lie_around_the_difference():
    """Draws that are off, as those of calibration errors are, do not move the interval."""
    draws = np.random.default_rng(1).normal(5.0, 1.0, 20_000)
    found = resampled(-3.0, draws, paired=True, n=9)
    assert found.ci == pytest.approx((-3 - 1.96, -3 + 1.96), abs=0.05)
    assert found.p_value == pytest.approx(2 * stats.norm.sf(3), abs=2e-3)
    assert not found.noise
    assert resampled(-1.0, draws, paired=False).noise


def test_independent_standard_errors_add_up():
    found = pooled([0.2, 0.4], [0.03, 0.04])
    assert found.value == pytest.approx(0.3)
    assert found.ci[1] - found.value == pytest.approx(1.96 * 0.025, abs=1e-4)


def test_a_picture_and_its_copy_count_once():
    """Twice the variance of as many independent pictures; the shares are those of the pictures."""
    found, single = copied((30, 1000), (60, 1000)), shares((30, 1000), (60, 1000))
    half = shares((15, 500), (30, 500))
    assert found.value == pytest.approx(single.value) == pytest.approx(0.03)
    assert found.ci == pytest.approx(half.ci)
    assert copied((1, 3), (3, 3)).value == pytest.approx(2 / 3)
    assert copied((0, 0), (1, 2)) is None
    assert copied((5, 3), (1, 2)) is None
