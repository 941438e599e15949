import numpy as np
import pytest

from app.comparison.cases import shared
from app.comparison.causes import causes
from app.comparison.classes import class_changes, common_macro_f1, confusion_moves, detector_confusions
from app.comparison.score_draws import shared_score

from .bodies import CLASSES, autopsy, changed, detect_eval, probabilities


@pytest.fixture(scope="module")
def sides():
    """One model, and a worse one on the same test cases."""
    labels = np.arange(400) % 5
    base = np.random.default_rng(9).normal(size=(400, 5))
    rows = [
        probabilities(np.random.default_rng(seed), labels, 5, skill=skill, base=base)
        for seed, skill in ((1, 3.0), (2, 1.0))
    ]
    return labels, rows


def test_another_order_of_the_classes_changes_nothing(sides):
    labels, (rows, _) = sides
    order = np.array([3, 0, 4, 1, 2])
    before = autopsy(rows, labels)
    place = np.argsort(order)
    after = autopsy(rows[:, order], place[labels], tuple(CLASSES[k] for k in order))
    assert confusion_moves(before.body, after.body, same_cases=True) == ()
    for each in class_changes(before.body, after.body, None):
        assert each.judgement == "equal"
        assert each.before == pytest.approx(each.after)


def test_confusions_come_from_whole_matrices(sides):
    labels, (good, bad) = sides
    before, after = autopsy(good, labels).body, autopsy(bad, labels).body
    found = confusion_moves(before, after, same_cases=True)
    a, b = np.array(before["confusion"]), np.array(after["confusion"])
    moved = np.abs(b - a)
    np.fill_diagonal(moved, 0)
    assert [abs(each.count_after - each.count_before) for each in found] == sorted(
        moved.ravel()[moved.ravel() > 0]
    )[::-1][:20]
    first = found[0]
    row, column = CLASSES.index(first.label), CLASSES.index(first.predicted)
    assert (first.count_before, first.count_after) == (a[row, column], b[row, column])


def test_a_list_of_the_worst_pairs_is_no_matrix(sides):
    """A pair that is not listed is not 0."""
    labels, (good, _) = sides
    body = autopsy(good, labels).body
    without = {**body, "confused": [{"label": "cat", "predicted": "dog", "count": 3, "rate": 0.1}]}
    del without["confusion"]
    assert confusion_moves(body, without, same_cases=False) is None


def test_recall_of_the_same_cases_is_tested_within_each_class(sides):
    labels, (good, bad) = sides
    before, after = autopsy(good, labels), autopsy(bad, labels)
    pair, _ = shared(before.cases, after.cases, same_data=True)
    found = class_changes(before.body, after.body, pair)
    losses = [each.after["recall"] - each.before["recall"] for each in found]
    assert losses == sorted(losses)
    assert any(each.judgement == "worse" for each in found)
    assert not any(each.judgement == "better" for each in found)
    unpaired = class_changes(before.body, after.body, None)
    assert {each.name for each in unpaired} == set(CLASSES)


def test_only_common_classes_are_compared(sides):
    labels, (good, _) = sides
    before = autopsy(good, labels).body
    renamed = ("cat", "dog", "owl", "fox", "newt")
    after = autopsy(good, labels, renamed).body
    assert [each.name for each in class_changes(before, after, None)] == ["cat", "dog", "owl", "fox"]
    common = CLASSES[:4]
    mean = np.mean([each["f1"] for each in before["per_class"][:4]])
    assert common_macro_f1(before, after, common) == pytest.approx((mean, mean))
    assert common_macro_f1(before, changed(after, per_class=[]), common) is None


def test_confusions_of_a_detector_are_listed_whole():
    before = detect_eval(0.5, [0.4, 0.6])
    after = changed(before, confusions=[{"true": "bus", "claimed": "car", "n": 3}])
    found = detector_confusions(before, after)
    assert [(each.label, each.count_before, each.count_after) for each in found] == [
        ("car", 4, 0),
        ("bus", 0, 3),
    ]
    assert detector_confusions(before, {**after, "confusions": None}) is None


def cause(kind, *affected, confidence=0.6):
    return {"cause_type": kind, "affected": list(affected), "confidence": confidence, "severity": "high"}


def test_causes_are_new_resolved_or_persist():
    before = {
        "findings": [
            cause("class_overlap", "cat", "dog"),
            cause("overfitting"),
            cause("label_noise", "a.png"),
        ]
    }
    after = {
        "findings": [
            cause("class_overlap", "dog", "cat", confidence=0.8),
            cause("class_confusion", "cat", "dog"),
            cause("label_noise", "a.png", "b.png"),
        ]
    }
    found = causes(before, after)
    assert [each.cause_type for each in found.new] == ["class_confusion"]
    assert [each.cause_type for each in found.resolved] == ["overfitting"]
    assert {each.cause_type for each in found.persisting} == {"class_overlap", "label_noise"}
    assert found.persisting[0].before == 0.6
    assert found.persisting[0].after == 0.8


def test_the_same_cause_of_other_classes_is_another_one():
    before, after = (
        {"findings": [cause("class_confusion", "a", "b")]},
        {"findings": [cause("class_confusion", "b", "a")]},
    )
    found = causes(before, after)
    assert len(found.new) == len(found.resolved) == 1
    assert causes({}, after) is None


@pytest.mark.parametrize("cells", [[1], [[1, "x"], [0, 1]], [[1, -1], [0, 1]], [[1], [0, 1]], [5, 5], 5])
def test_a_matrix_of_anything_but_counts_is_none(cells):
    body = {"subject": {"classes": ["a", "b"]}, "confusion": cells}
    assert confusion_moves(body, body, same_cases=False) is None


def test_odd_entries_of_lists_are_passed_over():
    odd = detect_eval(0.5, [0.4, 0.6])
    odd["confusions"] = [5, {"true": "car", "claimed": "bus", "n": "x"}]
    assert detector_confusions(odd, odd) == ()
    found = causes(
        {"findings": [cause("overfitting")]}, {"findings": [{**cause("overfitting"), "affected": 5}]}
    )
    assert [each.affected for each in found.persisting] == [()]


@pytest.mark.parametrize(
    "weights", ["x", 5, {"performance": "x"}, {"performance": [1]}, {"performance": 10**400}]
)
def test_odd_weights_weigh_nothing(sides, weights):
    labels, (good, bad) = sides
    before, after = autopsy(good, labels).body, autopsy(bad, labels).body
    after["settings"]["weights"] = weights
    assert shared_score(before, after).after == pytest.approx(after["summary"]["autopsy_score"])
