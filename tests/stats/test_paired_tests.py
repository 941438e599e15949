import numpy as np
import pytest
from scipy import stats
from scipy.stats import permutation_test

from app.stats.paired_tests import mcnemar, mcnemar_two_sided, sign_flips

COUNTS = np.array([(b, c) for b in range(12) for c in range(12)] + [(300, 280), (90, 10), (0, 200)])


@pytest.mark.parametrize(("test", "word"), [(mcnemar, "greater"), (mcnemar_two_sided, "two-sided")])
def test_mcnemar_equals_binomtest(test, word):
    expected = [
        stats.binomtest(b, b + c, 0.5, alternative=word).pvalue if b + c else 1.0 for b, c in COUNTS.tolist()
    ]
    np.testing.assert_allclose(test(COUNTS[:, 0], COUNTS[:, 1]), expected, rtol=1e-10)


def test_mcnemar_takes_one_pair_of_counts_or_many():
    assert mcnemar(3, 1) == pytest.approx(5 / 16)
    assert mcnemar_two_sided(3, [1, 3]) == pytest.approx([5 / 8, 1])
    assert mcnemar([], []).shape == mcnemar_two_sided([], []).shape == (0,)


@pytest.mark.parametrize(("two_sided", "word"), [(True, "two-sided"), (False, "greater")])
def test_sign_flips_equal_scipys_permutation_test(two_sided, word):
    rng = np.random.default_rng(1)
    gaps = rng.normal(0.4, 1, 9)
    expected = permutation_test(
        (gaps,), np.mean, permutation_type="samples", alternative=word, n_resamples=np.inf
    ).pvalue
    exact = sign_flips(gaps, rng, 512, two_sided=two_sided)
    assert exact == pytest.approx(expected)
    assert sign_flips(gaps, rng, 511, two_sided=two_sided) == pytest.approx(expected, abs=0.08)


def test_sign_flips_on_few_nan_or_equal_differences():
    rng = np.random.default_rng(2)
    assert np.isnan(sign_flips(np.array([np.nan]), rng, 10))
    assert sign_flips(np.array([0.0, 0.0, np.nan]), rng, 10) == 1.0
    assert sign_flips(np.array([0.3]), rng, 10, two_sided=False) == 0.5


def test_sign_flips_hold_their_level():
    rng = np.random.default_rng(3)
    rejected = [sign_flips(rng.normal(size=30), rng, 199) <= 0.05 for _ in range(400)]
    assert np.mean(rejected) < 0.08
