import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.diagnosis.calibration import confident_error_share, reliability


def test_by_hand():
    # Bins [0.6, 0.7): 0.65 wrong; [0.9, 1]: 0.9 right, 1.0 wrong.
    found = reliability(np.array([0.65, 0.9, 1.0]), np.array([False, True, False]))
    assert found.counts.tolist() == [0, 0, 0, 0, 0, 0, 1, 0, 0, 2]
    assert found.ece == pytest.approx((1 * 0.65 + 2 * abs(0.5 - 0.95)) / 3)
    assert found.mce == pytest.approx(0.65)


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("edge", range(11))
def test_a_bin_holds_its_lower_edge_and_the_last_one_both(edge, precision):
    confidence = np.array([np.linspace(0, 1, 11)[edge]], dtype=precision)
    assert reliability(confidence, np.array([True])).counts.argmax() == min(edge, 9)


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 50))
def test_many_rows_equal_a_plain_loop(seed, cases):
    rng = np.random.default_rng(seed)
    confidence, right = rng.random((3, cases)), rng.random((3, cases)) < 0.5
    expected = []
    for sure, hit in zip(confidence, right, strict=True):
        gaps = []
        for low in range(10):
            inside = (sure >= low / 10) & ((sure < (low + 1) / 10) | (low == 9))
            if inside.any():
                gaps.append((inside.sum(), abs(hit[inside].mean() - sure[inside].mean())))
        expected.append((sum(n * gap for n, gap in gaps) / cases, max(gap for _, gap in gaps)))
    found = reliability(confidence, right)
    np.testing.assert_allclose(np.column_stack([found.ece, found.mce]), expected, atol=1e-12)


def test_nothing_gives_nan():
    found = reliability(np.zeros((2, 0)), np.zeros((2, 0), dtype=bool))
    assert np.isnan(found.ece).all()
    assert np.isnan(found.mce).all()


def test_confident_errors():
    confidence = np.array([0.95, 0.9, 0.89, 0.99], dtype=np.float32)
    right = np.array([False, False, False, True])
    assert confident_error_share(confidence, right) == pytest.approx(2 / 3)
    assert confident_error_share(confidence, np.ones(4, dtype=bool)) == 0
