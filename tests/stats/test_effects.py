import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from app.stats.effects import cohens_h, mean_difference, paired_difference

Z = stats.norm.ppf(0.975)


def test_nothing_is_unknown():
    assert np.isnan(paired_difference([0], [0], 0).low).all()
    assert np.isnan(mean_difference([0], [0], 0).high).all()


def score_statistic(b, c, n, difference):
    """Tango's statistic with the nuisance parameter found by maximising the likelihood numerically."""
    low, high = max(0.0, -difference), (1 - difference) / 2

    def loss(q):
        shares = np.array([q + difference, q, 1 - 2 * q - difference])
        return -float(np.sum(np.array([b, c, n - b - c]) * np.log(np.maximum(shares, 1e-300))))

    q = optimize.minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-12}).x
    return (b - c - n * difference) / np.sqrt(n * (2 * q + difference * (1 - difference)))


@pytest.mark.parametrize(("b", "c", "n"), [(4, 1, 40), (12, 0, 50), (0, 7, 30), (20, 20, 100)])
def test_paired_difference_inverts_the_score_test(b, c, n):
    found = paired_difference([b], [c], n)[0]
    assert score_statistic(b, c, n, found.low) == pytest.approx(Z, abs=1e-3)
    assert score_statistic(b, c, n, found.high) == pytest.approx(-Z, abs=1e-3)


def test_paired_difference_without_discordant_pairs():
    # With b = c = 0 the statistic is -nd / sqrt(n d (1 - d)) for d > 0, so that the ends are z² / (n + z²).
    found = paired_difference([0], [0], 44)[0]
    assert (found.low, found.high) == pytest.approx((-(Z**2) / (44 + Z**2), Z**2 / (44 + Z**2)), abs=1e-9)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
def test_paired_difference_is_antisymmetric_and_holds_the_difference(b, c, rest):
    n = b + c + rest + 1
    one, other = paired_difference([b], [c], n)[0], paired_difference([c], [b], n)[0]
    assert -1 <= one.low - 1e-12 <= (b - c) / n <= one.high + 1e-12 <= 1 + 1e-9
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=1e-9)


@pytest.mark.parametrize(("loss", "gain"), [(0.02, 0.0), (0.05, 0.03), (0.3, 0.02), (0.01, 0.01)])
def test_paired_difference_covers(loss, gain):
    rng = np.random.default_rng(5)
    counts = rng.multinomial(200, [loss, gain, 1 - loss - gain], size=4000)
    found = paired_difference(counts[:, 0], counts[:, 1], 200)
    assert 0.92 <= np.mean((found.low <= loss - gain) & (loss - gain <= found.high)) <= 0.99


@pytest.mark.parametrize(("fragile", "rate", "times"), [(0.1, 0.3, 10), (0.02, 0.8, 5), (1.0, 0.02, 10)])
def test_mean_difference_covers(fragile, rate, times):
    rng = np.random.default_rng(6)
    losing = rng.random((3000, 200)) < fragile
    losses = rng.binomial(times, rate, size=losing.shape) * losing / times
    found = mean_difference(losses.sum(axis=1), (losses**2).sum(axis=1), 200)
    assert 0.93 <= np.mean((found.low <= fragile * rate) & (fragile * rate <= found.high)) <= 1


def test_mean_difference_with_one_repetition_is_agresti_and_min():
    b, c, n = 9, 2, 80
    shares = np.array([b + 0.5, c + 0.5]) / (n + 2)
    half = Z * np.sqrt((shares.sum() - (shares[0] - shares[1]) ** 2) / (n + 2))
    found = mean_difference([b - c], [b + c], n)[0]
    centre = shares[0] - shares[1]
    assert (found.low, found.high) == pytest.approx((centre - half, centre + half), abs=1e-12)


def test_cohens_h():
    assert cohens_h(1.0, 0.0) == pytest.approx(np.pi)
    assert cohens_h(0.5, 0.25) == pytest.approx(np.pi / 6)
    assert cohens_h([0.3], [0.3]).tolist() == [0]
    assert cohens_h([1.0], 0.5)[0] == pytest.approx(np.pi / 2)
    assert np.isnan(cohens_h([1.2], 0.01)[0])  # a share of more events than trials


def test_an_interval_knows_its_level():
    assert paired_difference([3], [1], 20, 0.8)[0].level == mean_difference([3], [4], 20, 0.8)[0].level == 0.8
    for interval in (paired_difference, mean_difference):
        with pytest.raises(ValueError, match="between 0 and 1"):
            interval([3], [4], 20, 95)
