import numpy as np
import pytest
from scipy.stats import binom, binomtest

from app.scoring.detection.significance import (
    NoiseFloor,
    binomial_p,
    image_kills,
    power,
)


@pytest.mark.parametrize("p0", [0.01, 0.3])
def test_p_values_equal_the_exact_binomial_test(p0):
    for trials in (1, 10, 20):
        counts = np.arange(trials + 1)
        expected = [binomtest(int(count), trials, p0, alternative="greater").pvalue for count in counts]
        assert binomial_p(counts, trials, p0) == pytest.approx(expected, rel=1e-12)


def test_p_is_zero_over_the_trials_and_trials_may_differ():
    assert binomial_p(np.array([12]), 10, 0.01).tolist() == [0.0]
    found = binomial_p(np.array([2, 2]), np.array([2, 5]), 0.5)
    assert found == pytest.approx([0.25, 26 / 32])


def test_power_by_hand():
    # at p0 = .01 two of ten already have p = .0043
    assert power(np.array([0.3]), 10, 0.01, 0.05)[0] == pytest.approx(1 - 0.7**10 - 10 * 0.3 * 0.7**9)
    assert np.isnan(power(np.array([1.5]), 10, 0.01, 0.05)[0])


@pytest.mark.parametrize(("trials", "p0"), [(10, 0.01), (10, 0.2), (7, 0.5), (3, 0.9)])
def test_power_is_that_of_the_smallest_significant_count(trials, p0):
    counts = np.arange(trials + 2)
    critical = int(counts[binom.sf(counts - 1, trials, p0) <= 0.05][0])
    assert power(np.array([0.6]), trials, p0, 0.05)[0] == pytest.approx(binom.sf(critical - 1, trials, 0.6))


def test_kills_by_hand_leave_out_what_was_not_tested():
    p = np.array([[0.01, 0.03, np.nan, 0.5], [0.04, 0.2, 0.9, np.nan], [np.nan] * 4])[:, :, None]
    found = image_kills(p)
    assert found.adjusted[0, :, 0] == pytest.approx([0.03, 0.06, np.nan, 0.5], nan_ok=True)
    assert found.smallest[:, 0] == pytest.approx([0.03, 0.12, np.nan], nan_ok=True)
    assert found.over_mutants[:, 0] == pytest.approx([0.09, 0.18, 1.0])


def test_nothing_to_test():
    assert image_kills(np.zeros((0, 4, 3))).over_mutants.shape == (0, 3)
    assert np.isnan(image_kills(np.zeros((2, 0, 3))).smallest).all()


def test_noise_floor_is_in_the_order_of_the_kills():
    assert NoiseFloor(0.1, 0.2, 0.3, 7).p0.tolist() == [0.1, 0.2, 0.3]
