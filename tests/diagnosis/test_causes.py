import numpy as np
import pytest

from app.diagnosis.causes import find_causes, severity

GOOD = np.array([[10, 0, 0], [0, 10, 0], [0, 0, 10]])


def found(matrix, confidence=0.7, right=None, **options):
    matrix = np.array(matrix)
    if right is None:
        right = np.arange(matrix.sum()) < np.trace(matrix)
    return find_causes(matrix, np.broadcast_to(confidence, right.shape), right, **options)


def test_a_model_that_is_fine_has_none():
    assert found(GOOD) == ()


def test_severity():
    assert [severity(x, 0.2) for x in (0.1, 0.2, 0.6, 1.0)] == [0, 0, pytest.approx(0.5), 0.99]


def test_class_imbalance():
    rare, empty = (
        found([[10, 0, 0], [0, 10, 0], [0, 0, 3]])[0],
        found([[10, 0], [0, 0]], class_names=["a", "b"])[0],
    )
    assert (rare.cause_type, rare.affected) == ("class_imbalance", ("2",))
    assert rare.confidence == pytest.approx(0.5 + 0.45 * (0.5 - 0.3) / 0.5)
    assert rare.evidence == {"cases": 3, "ratio_to_median": 0.3}
    assert empty.affected == ("b",)
    assert empty.confidence == pytest.approx(0.95)


def test_overfitting():
    assert found(GOOD, accuracy_gap=0.15) == ()
    assert found(GOOD, accuracy_gap=0.575)[0].confidence == pytest.approx(0.55 + 0.4 * 0.5)


def test_class_overlap_by_confusion_by_embedding_and_by_both():
    confused = [[6, 4, 0], [2, 8, 0], [0, 0, 10]]
    near = np.eye(3)
    near[0, 1] = near[1, 0] = 0.925
    by_rate, by_cosine, by_both = (
        found(confused)[0],
        found(GOOD, similarity=near)[0],
        found(confused, similarity=near)[0],
    )
    assert by_rate.affected == by_cosine.affected == by_both.affected == ("0", "1")
    assert by_rate.confidence == pytest.approx(0.4 + 0.35 * (0.3 - 0.2) / 0.8)
    assert by_cosine.confidence == pytest.approx(0.55 + 0.35 * 0.5)
    assert by_both.confidence == pytest.approx(0.6 + 0.35 * 0.5)
    assert found([[6, 4, 0], [0, 10, 0], [0, 0, 10]]) == ()


def test_representation_problem():
    sure = np.where(np.arange(30) >= 28, 0.95, 0.7)
    right = np.arange(30) < 26
    finding = found(GOOD, sure, right)[0]
    assert finding.cause_type == "representation_problem"
    assert finding.confidence == pytest.approx(0.5 + 0.4 * 0.2 / 0.7)
    assert found(GOOD, 0.95, np.ones(30, dtype=bool)) == ()


def test_underfitting():
    right = np.arange(30) < 15
    assert [each.cause_type for each in found(GOOD, 0.5, right)] == ["underfitting"]
    assert found(GOOD, 0.56, right) == ()
    assert found(GOOD, 0.5, np.arange(30) < 18) == ()


def test_most_confident_first():
    several = found([[10, 0, 0], [0, 10, 0], [0, 0, 1]], 0.95, np.arange(21) < 11, accuracy_gap=0.2)
    sure = [each.confidence for each in several]
    assert len(several) == 3
    assert sure == sorted(sure, reverse=True)


def test_no_case_gives_none():
    assert found([[0, 0], [0, 0]], accuracy_gap=0.9) == ()
