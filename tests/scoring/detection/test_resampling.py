import numpy as np
import pytest
from scipy.stats import permutation_test

from app.scoring.detection.resampling import (
    image_weights,
    nan_mean,
    percentiles,
    resampled_img_ms,
    sign_flip_p,
)
from app.scoring.detection.significance import image_kills


def test_weights_are_draws_with_replacement():
    weights = image_weights(6, 2000, np.random.default_rng(0))
    assert (weights.sum(axis=1) == 6).all()
    assert weights.mean(axis=0) == pytest.approx(np.ones(6), abs=0.1)
    assert image_weights(0, 5, np.random.default_rng(0)).shape == (5, 0)


def test_percentiles_leave_out_nan():
    found = percentiles(np.array([np.nan, *range(101)]), 0.9)
    assert (found.low, found.high) == pytest.approx((5.0, 95.0))
    assert np.isnan(percentiles(np.array([np.nan]), 0.9).low)


def test_nan_mean_by_hand():
    assert nan_mean(np.array([[1.0, np.nan, 3.0], [np.nan] * 3]), axis=1) == pytest.approx(
        [2.0, np.nan], nan_ok=True
    )


@pytest.mark.parametrize("seed", range(4))
def test_the_short_way_to_img_ms_equals_the_long_one(seed):
    rng = np.random.default_rng(seed)
    p = rng.choice([1.0, 0.1, 0.02, 0.004, 1e-5], size=(5, 8, 3), p=[0.6, 0.1, 0.1, 0.1, 0.1])
    p[1, 3] = np.nan
    p[2] = np.nan
    weights = image_weights(8, 30, rng)
    found = resampled_img_ms(p, weights, 0.05)
    for draw, row in zip(weights.astype(int), found, strict=True):
        drawn = np.repeat(np.arange(8), draw)
        expected = (image_kills(p[:, drawn]).over_mutants <= 0.05).mean(axis=0)
        assert row == pytest.approx(expected)


def test_img_ms_of_nothing_is_undefined():
    assert np.isnan(resampled_img_ms(np.zeros((0, 3, 3)), np.ones((4, 3)), 0.05)).all()
    assert np.isnan(resampled_img_ms(np.zeros((2, 0, 3)), np.ones((4, 0)), 0.05)).all()


@pytest.mark.parametrize(("two_sided", "word"), [(True, "two-sided"), (False, "greater")])
def test_sign_flips_equal_scipys_permutation_test(two_sided, word):
    rng = np.random.default_rng(1)
    gaps = rng.normal(0.4, 1, 9)
    expected = permutation_test(
        (gaps,), np.mean, permutation_type="samples", alternative=word, n_resamples=np.inf
    ).pvalue
    exact = sign_flip_p(gaps, rng, 512, two_sided=two_sided)
    assert exact == pytest.approx(expected)
    assert sign_flip_p(gaps, rng, 511, two_sided=two_sided) == pytest.approx(expected, abs=0.08)


def test_sign_flips_on_few_nan_or_equal_differences():
    rng = np.random.default_rng(2)
    assert np.isnan(sign_flip_p(np.array([np.nan]), rng, 10))
    assert sign_flip_p(np.array([0.0, 0.0, np.nan]), rng, 10) == 1.0
    assert sign_flip_p(np.array([0.3]), rng, 10, two_sided=False) == 0.5


def test_sign_flips_hold_their_level():
    rng = np.random.default_rng(3)
    rejected = [sign_flip_p(rng.normal(size=30), rng, 199) <= 0.05 for _ in range(400)]
    assert np.mean(rejected) < 0.08
