from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.diagnosis import metrics


def test_confusion_by_hand():
    matrix = metrics.confusion([[0, 1, 1, 2], [2, 2, 2, 2]], [0, 0, 1, 2], classes=3)
    assert matrix.tolist() == [[[1, 1, 0], [0, 1, 0], [0, 0, 1]], [[0, 0, 2], [0, 0, 1], [0, 0, 1]]]
    assert metrics.accuracy(matrix).tolist() == [0.75, 0.25]
    np.testing.assert_array_equal(metrics.precision(matrix), [[1, 0.5, 1], [np.nan, np.nan, 0.25]])
    assert metrics.confusion_rates(matrix[0]).tolist() == [[0, 0.5, 0], [0, 0, 0], [0, 0, 0]]


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 6), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_rates_equal_scikit_learn(classes, cases, seed):
    from sklearn import metrics as oracle

    rng = np.random.default_rng(seed)
    labels, top1 = rng.integers(classes, size=(2, cases))
    matrix = metrics.confusion(top1, labels, classes)
    present = np.unique(labels)
    counted = Counter(zip(labels.tolist(), top1.tolist(), strict=True))
    assert matrix.tolist() == [[counted[a, b] for b in range(classes)] for a in range(classes)]
    for average, ours in (("macro", metrics.macro), ("weighted", metrics.weighted)):
        expected = oracle.precision_recall_fscore_support(
            labels, top1, labels=present, average=average, zero_division=0
        )[:3]
        found = [ours(rate(matrix), matrix) for rate in (metrics.precision, metrics.recall, metrics.f1)]
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_no_case_and_unused_class_give_nan():
    nothing = metrics.confusion([], [], classes=2)
    assert nothing.tolist() == [[0, 0], [0, 0]]
    assert np.isnan(
        [metrics.accuracy(nothing), metrics.macro_f1(nothing), metrics.weighted_f1(nothing)]
    ).all()
    unused = metrics.confusion([0, 0], [0, 0], classes=2)
    np.testing.assert_array_equal(metrics.recall(unused), [1, np.nan])
    assert metrics.macro_f1(unused) == 1
    assert metrics.confusion(np.zeros((0, 3), int), [0, 1, 1], classes=2).shape == (0, 2, 2)


@pytest.mark.parametrize(("top1", "labels"), [([0, -1], [0, 0]), ([0, 0], [0, 3]), ([0, 3], [0, 0])])
def test_a_class_that_does_not_exist_is_refused(top1, labels):
    with pytest.raises(ValueError, match=r"must be a class in 0\.\.2"):
        metrics.confusion(top1, labels, classes=3)


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="labels"):
        metrics.confusion([0, 1], [0], classes=2)
