import numpy as np
import pytest

from app.diagnosis.signals import changes, new_causes, signals
from app.records import Predictions

LABELS = np.array([0, 0, 0, 0, 1, 1, 1, 1])


def predictions(*rows, confidence=0.7):
    top1 = np.array(rows, dtype=np.int32)
    return Predictions(top1, np.full(top1.shape, confidence, np.float32), np.zeros(top1.shape, np.float32))


def test_repetitions_are_averaged():
    all_right, all_zero = LABELS.tolist(), [0] * 8
    found = signals(predictions(all_right, all_zero), LABELS, 2)
    alone = [signals(predictions(row), LABELS, 2) for row in (all_right, all_zero)]
    assert found.accuracy == 0.75
    assert found.recall.tolist() == [1.0, 0.5]
    assert found.precision.tolist() == [0.75, 1.0]
    assert found.support.tolist() == [4, 4]
    assert found.ece == pytest.approx(np.mean([each.ece for each in alone]))
    assert found.autopsy_score == pytest.approx(np.mean([each.autopsy_score for each in alone]))


def test_a_cause_counts_if_it_fires_in_half_of_the_repetitions():
    fine, confused = LABELS.tolist(), [0, 0, 1, 1, 1, 1, 0, 0]
    assert signals(predictions(fine, confused), LABELS, 2).causes == {"class_overlap"}
    assert signals(predictions(fine, fine, confused), LABELS, 2).causes == frozenset()


def test_changes_of_a_mutant():
    original, mutant = (
        signals(predictions(LABELS.tolist()), LABELS, 2),
        signals(predictions([0, 0, 1, 1, 1, 0, 0, 0]), LABELS, 2),
    )
    found = changes(original, mutant)
    assert found["accuracy_drop"] == 0.625
    assert found["recall_drop"] == 0.75
    assert found["ece_rise"] == pytest.approx(mutant.ece - 0.3, abs=1e-6)
    assert found["autopsy_score_drop"] == pytest.approx(original.autopsy_score - mutant.autopsy_score)
    assert found["new_causes"] == 1
    assert new_causes(original, mutant) == ("class_overlap",)
    assert all(value == 0 for value in changes(original, original).values())


def test_a_class_without_cases_does_not_hide_the_recall_drop():
    original, mutant = (
        signals(predictions(row), LABELS, 3) for row in ([0] * 4 + [1] * 4, [2] * 4 + [1] * 4)
    )
    assert changes(original, mutant)["recall_drop"] == 1.0
    assert np.isnan(mutant.recall[2])


def test_outputs_that_are_not_finite_are_refused():
    with pytest.raises(ValueError, match="prediction"):
        signals(predictions([-1] + [0] * 7), LABELS, 2)


def test_one_class_and_one_case():
    found = signals(predictions([0], confidence=1.0), np.array([0]), 1)
    assert (found.accuracy, found.ece, found.autopsy_score, found.causes) == (1, 0, 100, frozenset())
