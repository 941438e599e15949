import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.diagnosis.calibration import (
    adaptive_ece,
    classwise_ece,
    confident_error_share,
    reliability,
)


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


def test_adaptive_ece_by_hand():
    # Two bins of two: (.5, .6) of which one is right, (.8, .9) of which both are.
    sure, right = np.array([0.9, 0.5, 0.8, 0.6]), np.array([True, False, True, True])
    assert adaptive_ece(sure, right, bins=2) == pytest.approx((abs(1.1 - 1) + abs(1.7 - 2)) / 4)
    assert np.isnan(adaptive_ece(sure[:0], right[:0]))
    assert adaptive_ece(sure[:1], right[:1]) == pytest.approx(0.1)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_classwise_ece_is_the_mean_of_the_ece_of_each_class(seed, classes):
    rng = np.random.default_rng(seed)
    rows, labels = rng.dirichlet(np.ones(classes), 30), rng.integers(classes, size=30)
    alone = [float(reliability(rows[:, k], labels == k).ece) for k in range(classes)]
    assert classwise_ece(rows, labels) == pytest.approx(np.mean(alone))
    assert np.isnan(classwise_ece(rows[:0], labels[:0]))
