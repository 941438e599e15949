import numpy as np
import pytest
from scipy import stats

from app.stats.bootstrap import (
    case_weights,
    centred,
    multinomial_weights,
    p_value,
    percentile,
    reflected,
    widened,
)

DRAWS = np.array([np.nan, *range(101), np.inf, -np.inf])
"""Of these 101 are finite: 5 % of them lie below 5, 5 % above 95."""


@pytest.mark.parametrize("weights", [case_weights, multinomial_weights])
def test_each_resample_draws_as_many_cases_as_there_are(weights):
    drawn = weights(50, 200, np.random.default_rng(0))
    assert (drawn.sum(axis=1) == 50).all()
    np.testing.assert_allclose(drawn.mean(axis=0), 1, atol=0.35)
    assert drawn.var() == pytest.approx(1 - 1 / 50, abs=0.05)
    assert weights(0, 3, np.random.default_rng(0)).shape == (3, 0)
    assert (weights(1, 3, np.random.default_rng(0)) == 1).all()


@pytest.mark.parametrize("cases", [1, 7, 300, 70_001])
def test_blocks_of_draws_are_the_draws_at_once(cases):
    rng = np.random.default_rng(1)
    blocks = np.concatenate([case_weights(cases, size, rng) for size in (1, 4, 2)])
    np.testing.assert_array_equal(blocks, case_weights(cases, 7, np.random.default_rng(1)))
    # As drawing the cases of all resamples at once does: seeded results of one way are those of the other.
    drawn = np.random.default_rng(1).integers(cases, size=(7, cases))
    np.testing.assert_array_equal(blocks, [np.bincount(row, minlength=cases) for row in drawn])


def test_intervals_by_hand():
    found = {each.__name__: each(45.0, DRAWS, 0.9) for each in (widened, reflected, centred)}
    assert percentile(DRAWS, 0.9) == found["widened"]
    ends = {name: (each.low, each.high) for name, each in found.items()}
    assert ends["widened"] == pytest.approx((5, 95))
    assert ends["reflected"] == pytest.approx((-5, 85))
    assert ends["centred"] == pytest.approx((0, 90))
    assert {each.level for each in found.values()} == {0.9}


@pytest.mark.parametrize("value", [-3.0, 300.0])
def test_intervals_hold_the_number_itself(value):
    for interval in (widened, reflected, centred):
        assert value in interval(value, DRAWS)


def test_a_widened_interval_keeps_its_other_end():
    found = widened(0.2, np.array([0.3, 0.4, 0.5]), 0.95)
    assert found.low == 0.2
    assert found.high == pytest.approx(0.495)


@pytest.mark.parametrize("draws", [np.zeros(0), np.array([np.nan, np.inf])])
def test_without_draws_nothing_is_known(draws):
    assert not percentile(draws).known
    assert np.isnan(p_value(0.1, draws))
    for interval in (widened, reflected, centred):
        assert not interval(0.1, draws).known


def test_nothing_is_known_of_a_number_that_is_not_defined():
    for value in (np.nan, np.inf):
        assert np.isnan(p_value(value, DRAWS))
        for interval in (widened, reflected, centred):
            assert not interval(value, DRAWS).known


def test_a_level_is_a_probability():
    for draws in (DRAWS, np.zeros(0)):
        for interval in (
            percentile,
            *(lambda d, a, of=each: of(0.1, d, a) for each in (widened, reflected, centred)),
        ):
            with pytest.raises(ValueError, match="between 0 and 1"):
                interval(draws, 95)


def test_p_counts_the_difference_itself():
    draws = np.array([-1.0, 0.0, 1.0])
    assert p_value(0.0, draws) == 1
    assert p_value(1.0, draws) == 3 / 4  # two draws as far as it, and itself
    assert p_value(-1.0, draws + 10) == 3 / 4  # wherever they lie
    assert p_value(9.0, draws) == 1 / 4


def test_intervals_and_p_of_a_mean_are_those_of_the_normal_theory():
    rng = np.random.default_rng(2)
    values = rng.normal(0.3, 1, 400)
    draws = case_weights(400, 4000, rng) @ values / 400
    mean, error = values.mean(), values.std() / 20
    for interval in (percentile(draws), *(each(mean, draws) for each in (widened, reflected, centred))):
        assert (interval.low, interval.high) == pytest.approx(
            (mean - 1.96 * error, mean + 1.96 * error), abs=0.01
        )
    assert p_value(2 * error, draws) == pytest.approx(2 * stats.norm.sf(2), abs=0.012)
