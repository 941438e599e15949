import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.diagnosis.detection import Boxes, EvaluationSet, evaluate
from app.diagnosis.detection.average_precision import precision_recall

from .scenes import random_set


def hand_worked():
    """Two images, three true boxes of class a, one of b that is never found, none of c.

    Detections of a, surest first: right (.9), doubled (.8), right (.7), beside (.6), and one below IoU .5 (.5).
    """
    truth = Boxes.of(
        [0, 0, 1, 1],
        [0, 0, 0, 1],
        [[0, 0, 10, 10], [50, 50, 60, 60], [0, 0, 10, 10], [30, 30, 40, 40]],
    )
    found = Boxes.of(
        [0, 0, 1, 1, 0, 1],
        [0, 0, 0, 0, 0, 2],
        [
            [0, 0, 10, 9],
            [0, 0, 10, 10],
            [0, 1, 10, 10],
            [80, 80, 90, 90],
            [50, 50, 60, 54],
            [30, 30, 40, 40],
        ],
        [0.9, 0.8, 0.7, 0.6, 0.5, 0.4],
    )
    return EvaluationSet(("i", "j"), ("a", "b", "c"), truth, found)


def test_the_hand_worked_case():
    # Precision 1, 1/2, 2/3, 2/4, 2/5 at recall 1/3, 1/3, 2/3, 2/3, 2/3: area 1/3 * 1 + 1/3 * 2/3.
    found = evaluate(hand_worked(), coco=False, resamples=20)
    a, b, c = found.classes
    assert a.ap == pytest.approx(1 / 3 + 2 / 9)
    assert b.ap == 0
    assert np.isnan(c.ap)
    assert found.mean_ap.value == pytest.approx((1 / 3 + 2 / 9) / 2)
    assert (a.truth, a.detections, c.detections) == (3, 5, 1)
    assert dict(found.errors) == {
        "classification": 1,
        "localisation": 1,
        "both": 0,
        "duplicate": 1,
        "background": 1,
        "missed": 0,
    }
    assert found.operating_score == 0.7
    assert (found.precision.value, found.recall.value) == (pytest.approx(2 / 3), 0.5)
    assert found.f1 == pytest.approx(2 * 2 / (3 + 4))
    assert found.operating_errors["missed"] == 2
    assert found.operating_errors["duplicate"] == 1
    assert found.reliability.counts.sum() == 6


@settings(deadline=None, max_examples=40)
@given(st.lists(st.booleans(), max_size=30), st.integers(1, 20))
def test_area_equals_the_sum_over_recall_steps(hits, more):
    positives = sum(hits) + more
    expected = 0.0
    for place, hit in enumerate(hits):
        if hit:
            later = [sum(hits[: n + 1]) / (n + 1) for n in range(place, len(hits))]
            expected += max(later) / positives
    assert precision_recall(np.array(hits, dtype=bool), positives).area == pytest.approx(expected)


def test_the_interval_is_that_of_evaluating_resampled_images():
    data = random_set(3, images=30)
    whole = evaluate(data, coco=False, resamples=300)
    rng = np.random.default_rng(0)
    means = []
    for _ in range(80):
        drawn = rng.integers(30, size=30)
        boxes = []
        for each in (data.truth, data.found):
            rows = [np.flatnonzero(each.image == image) for image in drawn]
            taken = each.take(np.concatenate(rows))
            images = np.repeat(np.arange(30), [len(row) for row in rows])
            boxes.append(Boxes(images, taken.label, taken.xyxy, taken.score, taken.crowd))
        copy = EvaluationSet(data.images, data.class_names, *boxes)
        means.append(evaluate(copy, coco=False, resamples=1).mean_ap.value)
    low, high = np.quantile(means, [0.025, 0.975])
    assert whole.mean_ap.low == pytest.approx(low, abs=0.03)
    assert whole.mean_ap.high == pytest.approx(high, abs=0.03)
    assert whole.mean_ap.low < whole.mean_ap.value < whole.mean_ap.high


@pytest.mark.parametrize("ties", [False, True])
def test_the_best_detector_and_the_empty_one(ties):
    truth = random_set(0).truth
    scores = np.full(len(truth), 0.9) if ties else np.linspace(0.1, 0.9, len(truth))
    perfect = Boxes.of(truth.image, truth.label, truth.xyxy, scores)
    names = tuple(map(str, range(12)))
    best = evaluate(EvaluationSet(names, tuple("abcd"), truth, perfect))
    assert best.mean_ap.value == best.precision.value == best.recall.value == 1
    assert best.coco.ap == pytest.approx(1)
    assert sum(best.errors.values()) == 0
    assert best.false_positives == best.false_negatives == best.suspects == ()
    none = evaluate(EvaluationSet(names, tuple("abcd"), truth, Boxes.of([], [], [])))
    assert none.mean_ap.value == none.coco.ap == 0
    assert none.errors["missed"] == len(truth)
    assert np.isnan(none.operating_score)
    empty = evaluate(EvaluationSet(names, ("a",), Boxes.of([], [], []), Boxes.of([], [], [])))
    assert np.isnan(empty.mean_ap.value)
    assert np.isnan(empty.coco.ap)
    nowhere = evaluate(EvaluationSet((), (), Boxes.of([], [], []), Boxes.of([], [], [])))
    assert nowhere.images == 0
