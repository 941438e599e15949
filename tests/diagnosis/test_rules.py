"""The causes that go beyond the original tool: each fires on its planted fault and names it."""

import numpy as np
import pytest
from scipy import stats

from app.diagnosis import class_confusion, class_order, confidence_gap, data_faults, label_noise
from app.diagnosis.data_faults import LeakageCounts, QualityCounts

from .models import names, sound_model

NAMES = tuple(names(4))


def test_class_confusion_by_hand():
    matrix = np.array([[80, 18, 1, 1], [3, 90, 3, 4], [3, 3, 90, 4], [0, 0, 1, 99]])
    (found,) = class_confusion.find(matrix, NAMES)
    assert found.affected == ("class0", "class1")
    assert found.evidence["share_of_errors"] == 18 / 20
    assert found.evidence["rate"] == 0.18
    assert found.impact == 18 / 400
    assert found.confidence == pytest.approx(0.5 + 0.4 * 0.4 / 0.5)
    assert list(class_confusion.find(matrix, NAMES, [frozenset({"class1", "class0"})])) == []


def test_class_confusion_needs_more_than_two_classes_and_more_than_luck():
    assert list(class_confusion.find(np.array([[50, 50], [0, 100]]), ("a", "b"))) == []
    # Six of ten errors on one of two wrong classes is luck.
    assert list(class_confusion.find(np.array([[90, 6, 4], [0, 100, 0], [0, 0, 100]]), ("a", "b", "c"))) == []
    # All of 40, and not even one in 20 cases.
    rare = np.diag([1960, 500, 500, 500])
    rare[0, 1] = 40
    assert list(class_confusion.find(rare, NAMES)) == []


def test_signed_gap_is_students_interval():
    rng = np.random.default_rng(0)
    sure, right = rng.random(50), rng.random(50) < 0.5
    found = confidence_gap.signed_gap(sure, right, 0.99)
    ends = stats.ttest_1samp(sure - right, 0).confidence_interval(0.99)
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high))
    assert np.isnan(confidence_gap.signed_gap(np.ones(1), np.ones(1, dtype=bool)).low)


@pytest.mark.parametrize(
    ("sure", "share", "cases", "cause"),
    [
        (0.9, 0.7, 400, ["overconfidence"]),
        (0.6, 0.9, 400, ["underconfidence"]),
        (0.9, 0.88, 400, []),
        (0.9, 0.7, 20, []),
    ],
)
def test_over_and_underconfidence(sure, share, cases, cause):
    right = np.arange(cases) < share * cases
    found = list(confidence_gap.find(np.full(cases, sure), right))
    assert [each.cause_type for each in found] == cause
    for each in found:
        assert each.evidence["signed_gap"] == pytest.approx(sure - share)
        assert each.impact == pytest.approx(abs(sure - share))


@pytest.mark.parametrize("share", [0.05, 0.1, 0.3])
def test_planted_label_noise_is_measured_and_named(share):
    rng = np.random.default_rng(3)
    rows, labels, _ = sound_model(rng, 3000, 6, sharp=9)
    wrong = rng.random(3000) < share
    noisy = np.where(wrong, (labels + rng.integers(1, 6, 3000)) % 6, labels)
    found = label_noise.label_noise(rows, noisy, rng)
    assert found.share == pytest.approx(share, abs=0.02)
    assert found.noisy
    suspects = np.array([suspect.case for suspect in found.suspects])
    assert wrong[suspects].mean() > 0.8
    assert wrong[suspects].sum() > 0.6 * wrong.sum()
    (finding,) = label_noise.find(found, tuple(names(6)))
    assert finding.cases == tuple(suspects.tolist())
    assert finding.evidence["suspects"] == suspects.size


def test_an_overconfident_model_is_not_label_noise():
    rng = np.random.default_rng(4)
    rows, labels, _ = sound_model(rng, 3000, 6, sharp=4)
    sharpened = rows**4 / (rows**4).sum(axis=1, keepdims=True)
    found = label_noise.label_noise(sharpened, labels, rng)
    assert not found.noisy
    assert list(label_noise.find(found, tuple(names(6)))) == []


def test_a_model_that_contradicts_most_labels_says_nothing_of_them():
    rng = np.random.default_rng(5)
    rows, labels, _ = sound_model(rng, 2000, 6, sharp=9)
    found = label_noise.label_noise(rows, (labels + rng.integers(1, 6, 2000)) % 6, rng)
    assert found.share > 0.5
    assert not found.noisy


def test_what_else_is_contradicted_is_listed_behind_the_suspects():
    rng = np.random.default_rng(6)
    rows, labels, _ = sound_model(rng, 900, 5, sharp=6)
    found = label_noise.label_noise(rows, labels, rng)
    wrong = np.flatnonzero(rows.argmax(axis=1) != labels)
    suspects, doubtful = ([each.case for each in part] for part in (found.suspects, found.doubtful))
    assert not set(suspects) & set(doubtful)
    assert set(doubtful) <= set(wrong.tolist())
    assert len(suspects) + len(doubtful) == min(100, len({*suspects, *wrong.tolist()}))
    behind = [each.label_probability - each.suggested_probability for each in found.doubtful]
    assert behind == sorted(behind)


def test_the_confident_joint_by_hand():
    # Mean own probability: class 0 (.9 + .8 + .1) / 3 = .6, class 1 (.7 + .5) / 2 = .6.
    rows = np.array([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.3, 0.7], [0.5, 0.5]])
    labels = np.array([0, 0, 0, 1, 1])
    joint, suspects = label_noise.confident_joint(rows, labels)
    assert joint.tolist() == [[2, 1], [0, 1]]
    (only,) = suspects
    assert (only.case, only.label, only.suggested) == (2, 0, 1)
    assert (only.label_probability, only.suggested_probability) == (0.1, 0.9)


def test_a_class_without_cases_is_never_suggested():
    rows = np.array([[0.2, 0.1, 0.7], [0.8, 0.1, 0.1], [0.1, 0.8, 0.1]])
    joint, _ = label_noise.confident_joint(rows, np.array([0, 0, 1]))
    assert (joint[:, 2] == 0).all()


@pytest.mark.parametrize("seed", range(4))
def test_a_permuted_order_is_found(seed):
    rng = np.random.default_rng(seed)
    rows, labels, _ = sound_model(rng, 600, 6)
    columns = rng.permutation(6)
    shuffled = np.empty_like(rows)
    shuffled[:, columns] = rows
    found = class_order.class_order(shuffled.argmax(axis=1), labels, 6, rng)
    assert found.columns.tolist() == columns.tolist()
    assert found.mismatch
    (finding,) = class_order.find(found, tuple(names(6)))
    moved = [k for k in range(6) if columns[k] != k]
    assert finding.affected == tuple(f"class{k} -> class{columns[k]}" for k in moved)


def test_two_swapped_classes_of_ten_are_found():
    rng = np.random.default_rng(0)
    rows, labels, _ = sound_model(rng, 500, 10, sharp=9)
    found = class_order.class_order(rows[:, [0, 1, 2, 4, 3, 5, 6, 7, 8, 9]].argmax(axis=1), labels, 10, rng)
    assert found.gain < 0.2
    assert found.mismatch
    assert found.moved == (3, 4)


def test_no_order_is_found_in_noise_or_in_a_right_order():
    rng = np.random.default_rng(1)
    for cases, classes in ((200, 100), (300, 10), (30, 5)):
        labels = rng.integers(classes, size=cases)
        assert not class_order.class_order(rng.integers(classes, size=cases), labels, classes, rng).mismatch
        right = class_order.class_order(labels, labels, classes, rng)
        assert right.moved == ()
        assert list(class_order.find(right, tuple(names(classes)))) == []


def test_quality_faults():
    counts = QualityCounts(200, unreadable=1, low_resolution=30, extra_duplicates=4, near_empty=5)
    assert counts.faults() == counts.faults("original") == 0.2
    small = QualityCounts(200, low_resolution=200)
    assert (small.faults(), small.faults("original")) == (0, 1)
    assert QualityCounts(0).faults() is None
    with pytest.raises(ValueError, match="from 0 to the total of 3"):
        QualityCounts(3, near_empty=4)


def test_data_quality_and_leakage():
    def causes(quality, leakage=None):
        return [each.cause_type for each in data_faults.find(quality, leakage)]

    assert causes(None) == causes(QualityCounts(0)) == causes(QualityCounts(1000, near_empty=3)) == []
    assert causes(QualityCounts(1000, near_empty=30)) == ["data_quality"]
    (corrupt,) = data_faults.find(QualityCounts(1000, unreadable=1, unreadable_files=("a.png",)), None)
    assert corrupt.affected == ("a.png",)
    assert causes(None, LeakageCounts(100, 0, near=40)) == []
    (leak,) = data_faults.find(None, LeakageCounts(100, 20, near=40, files=("b.png",)))
    assert (leak.cause_type, leak.impact, leak.severity) == ("leakage", 0.2, "high")
    with pytest.raises(ValueError, match="leaked test cases"):
        LeakageCounts(10, 8, 4)
