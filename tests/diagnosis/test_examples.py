import numpy as np

from app.diagnosis.examples import hard_examples

ROWS = np.array(
    [
        [0.95, 0.03, 0.02],  # wrong and confident
        [0.36, 0.34, 0.30],  # wrong, unsure, near the boundary
        [0.38, 0.36, 0.26],  # right, unsure, near the boundary
        [0.50, 0.45, 0.05],  # right, near the boundary
        [0.70, 0.20, 0.10],  # right
        [0.92, 0.05, 0.03],  # wrong and confident
    ]
)
LABELS = np.array([1, 2, 0, 0, 0, 2])


def test_kinds_by_hand():
    found = hard_examples(ROWS, LABELS)
    assert found.counts == {"confident_error": 2, "unsure_error": 1, "unsure_right": 1, "near_boundary": 3}
    listed = [(each.kind, each.case, each.severity) for each in found.shown]
    assert listed == [
        ("confident_error", 0, "high"),
        ("confident_error", 5, "high"),
        ("unsure_error", 1, "medium"),
        ("unsure_right", 2, "medium"),
        ("near_boundary", 1, "high"),
        ("near_boundary", 2, "medium"),
        ("near_boundary", 3, "medium"),
    ]
    first = found.shown[0]
    assert (first.label, first.predicted, first.runner_up, first.right) == (1, 0, 1, False)
    assert abs(first.margin - 0.92) < 1e-12


def test_a_dozen_of_each_kind_and_all_counted():
    found = hard_examples(np.tile(ROWS, (20, 1)), np.tile(LABELS, 20))
    kinds = [each.kind for each in found.shown]
    assert {kind: kinds.count(kind) for kind in kinds} == dict.fromkeys(found.counts, 12)
    assert found.counts["confident_error"] == 40
    assert hard_examples(ROWS[4:5], LABELS[4:5]).shown == ()
