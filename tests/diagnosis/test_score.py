import numpy as np
import pytest

from app.diagnosis.score import PROFILES, autopsy_score, balance


def score(matrix, **options):
    return autopsy_score(np.array(matrix), **({"ece": 0.03, "confident_errors": 0.25} | options))


def test_by_hand():
    # Rates 2/10, 1/10 of class 0 and 4/8 of class 1: mean .2667. Median 8, balance (1 + 1 + 4/8) / 3.
    found = score(
        [[7, 2, 1], [4, 4, 0], [0, 0, 4]], accuracy_gap=0.06, quality_faults=0.1, profile="original"
    )
    assert found.sub_scores == {
        "class_balance": 83.3,
        "generalization": 80.0,
        "confusion": 73.3,
        "confidence_quality": 90.0,
        "representation": 75.0,
        "dataset_quality": 90.0,
    }
    assert found.overall == round((83.3 + 80 + 73.3 + 90 + 75 + 90) / 6, 1)


def test_assay_adds_performance_and_what_is_not_applicable_is_left_out():
    found = score([[5, 0], [0, 5]])
    assert found.sub_scores["performance"] == 100
    assert np.isnan(found.sub_scores["generalization"])
    assert found.overall == round((5 * 100 + 100 + 100 + 90 + 75) / 9, 1)
    alike = score([[5, 0], [0, 5]], weights={"performance": 1.0})
    assert alike.overall == round((100 + 100 + 100 + 90 + 75) / 5, 1)


def test_accuracy_moves_the_score_of_assay_only():
    wrong, right = [[0, 5], [5, 0]], [[5, 0], [0, 5]]
    moved = {
        name: score(right, profile=name).overall - score(wrong, profile=name).overall for name in PROFILES
    }
    assert moved["assay"] > moved["original"] > 0


def test_weights():
    only = dict.fromkeys(PROFILES["assay"], 0.0) | {"representation": 2.0}
    assert score([[5, 0], [0, 5]], weights=only).overall == 75.0
    assert np.isnan(score([[5]], weights=dict.fromkeys(PROFILES["assay"], 0.0)).overall)


def test_one_class_and_no_case():
    assert score([[5]], ece=0.0, confident_errors=0.0).overall == 100
    nothing = score([[0, 0], [0, 0]], ece=float("nan"), confident_errors=0.0)
    assert np.isnan(nothing.sub_scores["class_balance"])
    assert nothing.overall == 100


def test_balance_of_classes_without_cases():
    assert balance(np.array([10, 5, 0])).tolist() == [10 / 7.5, 5 / 7.5, 0]
    assert balance(np.array([0, 0])).tolist() == [0, 0]


@pytest.mark.parametrize(
    "options", [{"profile": "mine"}, {"weights": {"luck": 1.0}}, {"weights": {"confusion": -1.0}}]
)
def test_bad_options_are_refused(options):
    with pytest.raises(ValueError, match=r"profile|weights"):
        score([[1]], **options)
