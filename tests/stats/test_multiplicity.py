import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.stats.multiplicity import benjamini_hochberg, holm

P = [0.01, 0.04, 0.03, 0.005]


def test_benjamini_hochberg_by_hand():
    # Ranks .005, .01, .03, .04: times 4/1, 4/2, 4/3, 4/4, then the smallest of what follows.
    assert benjamini_hochberg(P) == pytest.approx([0.02, 0.04, 0.04, 0.02])


def test_holm_by_hand():
    # .005·4, .01·3, .03·2, .04·1, then the largest of what came before.
    assert holm(P) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.9]).tolist() == [1, 1]


@pytest.mark.parametrize("adjust", [benjamini_hochberg, holm])
def test_nothing_and_one(adjust):
    assert adjust([]).shape == (0,)
    assert adjust(np.zeros((3, 0))).shape == (3, 0)
    assert adjust([0.2]).tolist() == [0.2]


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_rejections_follow_the_step_procedures(p_values):
    p, m = np.array(p_values), len(p_values)
    ordered = np.sort(p)
    # Step up for BH: the largest k with p(k) <= q k / m. Step down for Holm: stop at the first p(k) > q / (m - k + 1).
    for q in (0.0503, 0.2003):
        below = np.flatnonzero(ordered <= q * np.arange(1, m + 1) / m)
        assert (benjamini_hochberg(p) <= q).sum() == (
            (p <= ordered[below[-1]]).sum() if below.size else 0
        ) or np.isclose(benjamini_hochberg(p), q).any()
        above = np.flatnonzero(ordered > q / np.arange(m, 0, -1))
        assert (holm(p) <= q).sum() == (above[0] if above.size else m) or np.isclose(holm(p), q).any()


def test_rows_are_adjusted_on_their_own():
    rows = np.array([P, [0.2, 0.001, 0.5, 0.5]])
    for adjust in (benjamini_hochberg, holm):
        np.testing.assert_allclose(adjust(rows), [adjust(row) for row in rows])


@pytest.mark.parametrize("adjust", [benjamini_hochberg, holm])
@pytest.mark.parametrize("wrong", [np.nan, -0.1, 1.1])
def test_what_is_no_p_value_is_refused(adjust, wrong):
    with pytest.raises(ValueError, match=f"between 0 and 1; {wrong} does not"):
        adjust([0.2, wrong])
