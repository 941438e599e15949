import numpy as np
import pytest

from app.diagnosis.detection import Boxes, EvaluationSet, evaluate
from app.errors import UserError

from .scenes import random_set
from .test_coco import oracle


@pytest.mark.parametrize("seed", range(12))
def test_counts_equal_hotcocos(seed):
    import hotcoco

    data = random_set(seed, ties=seed % 2 == 1)
    truth, found = data.truth, data.found

    def sides(boxes):
        return np.hstack([boxes.xyxy[:, :2], boxes.xyxy[:, 2:] - boxes.xyxy[:, :2]])

    reference = hotcoco.COCO.from_arrays(
        [{"id": i + 1} for i in range(12)],
        [{"id": k + 1, "name": name} for k, name in enumerate(data.class_names)],
        truth.image + 1,
        truth.label + 1,
        sides(truth),
    )
    columns = (found.image + 1, sides(found), found.score, found.label + 1)
    evaluation = hotcoco.COCOeval(reference, reference.load_res(np.column_stack(columns)), "bbox")
    evaluation.evaluate()
    theirs = evaluation.tide_errors(pos_thr=0.5, bg_thr=0.1)["counts"]
    mine = evaluate(data, coco=False, resamples=1).errors
    pairs = {
        "classification": "Cls",
        "localisation": "Loc",
        "both": "Both",
        "duplicate": "Dupe",
        "background": "Bkg",
        "missed": "Miss",
    }
    assert {name: theirs[key] for name, key in pairs.items()} == mine


@pytest.mark.parametrize("seed", range(6))
def test_matches_are_those_of_pycocotools(seed):
    data = random_set(seed, crowds=seed % 2 == 1, most=60)
    _, recall = oracle(data, [1, 10, 1000])
    found = evaluate(data, coco=False, resamples=1)
    solid = data.truth.take(~data.truth.crowd)
    matched = np.bincount(data.found.label[found.detail.of("match")], minlength=4)
    positives = np.bincount(solid.label, minlength=4)
    there = positives > 0
    np.testing.assert_allclose(matched[there] / positives[there], recall[0, there, 0, 2])


def test_each_kind_by_hand():
    truth = Boxes.of([0, 0, 0], [0, 1, 0], [[0, 0, 10, 10], [40, 0, 50, 10], [80, 0, 90, 10]])
    boxes = {
        "match": ([0, 0, 10, 10], 0, 0.9),
        "duplicate": ([0, 0, 10, 9], 0, 0.8),
        "classification": ([40, 0, 50, 10], 0, 0.7),
        "localisation": ([80, 0, 90, 3], 0, 0.6),
        "both": ([40, 0, 50, 3], 0, 0.5),
        "background": ([40, 40, 50, 50], 1, 0.4),
    }
    found = Boxes.of([0] * 6, [b[1] for b in boxes.values()], [b[0] for b in boxes.values()],
                     [b[2] for b in boxes.values()])  # fmt: skip
    evaluation = evaluate(EvaluationSet(("i",), ("a", "b"), truth, found), resamples=1)
    assert all(evaluation.detail.of(kind)[place] for place, kind in enumerate(boxes))
    assert evaluation.detail.about.tolist() == [0, 0, 1, 2, 1, -1]
    assert evaluation.detail.iou.tolist() == pytest.approx([1, 0.9, 1, 0.3, 0.3, 0])
    assert [each.kind for each in evaluation.false_positives] == list(boxes)[1:]
    assert [each.true_label for each in evaluation.false_positives] == ["a", "b", "a", "b", ""]
    assert [(each.label, each.missed) for each in evaluation.false_negatives] == [("b", False), ("a", False)]


def test_a_detection_in_a_crowd_does_not_count():
    truth = Boxes.of([0, 0], [0, 0], [[0, 0, 10, 10], [50, 50, 100, 100]], crowd=[False, True])
    found = Boxes.of([0, 0], [0, 0], [[0, 0, 10, 10], [60, 60, 70, 70]], [0.5, 0.9])
    evaluation = evaluate(EvaluationSet(("i",), ("a",), truth, found), resamples=1)
    assert evaluation.mean_ap.value == evaluation.precision.value == 1
    assert evaluation.coco.ap == pytest.approx(1)
    assert (evaluation.truth, evaluation.detections) == (1, 1)
    assert sum(evaluation.errors.values()) == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"iou": 0.1}, "iou must be above 0.1"),
        ({"iou": 1.1}, "at most 1"),
        ({"max_detections": 0}, "max_detections"),
        ({"resamples": 0}, "resamples"),
    ],
)
def test_bad_options(options, words):
    with pytest.raises(UserError, match=words):
        evaluate(random_set(0), **options)


def test_scores_outside_of_0_to_1_are_refused():
    data = random_set(0)
    found = Boxes.of(data.found.image, data.found.label, data.found.xyxy, data.found.score * 100)
    with pytest.raises(UserError, match=r"in \[0, 1\]"):
        evaluate(EvaluationSet(data.images, data.class_names, data.truth, found))
