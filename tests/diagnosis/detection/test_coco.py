import contextlib
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from app.diagnosis.detection import Boxes, EvaluationSet, coco_scores
from app.diagnosis.detection.files import read

from .scenes import random_set


def oracle(data, limits):
    """Precision and recall arrays of pycocotools."""
    pytest.importorskip("pycocotools")
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    def rows(boxes):
        return [
            {"image_id": int(i) + 1, "category_id": int(k) + 1, "bbox": [x, y, x2 - x, y2 - y]}
            for i, k, (x, y, x2, y2) in zip(boxes.image, boxes.label, boxes.xyxy.tolist(), strict=True)
        ]

    truth, found = data.truth, data.found
    with contextlib.redirect_stdout(io.StringIO()):
        reference = COCO()
        reference.dataset = {
            "images": [{"id": i + 1} for i in range(len(data.images))],
            "categories": [{"id": k + 1, "name": name} for k, name in enumerate(data.class_names)],
            "annotations": [
                row | {"id": i + 1, "area": float(truth.size_area[i]), "iscrowd": int(truth.crowd[i])}
                for i, row in enumerate(rows(truth))
            ],
        }
        reference.createIndex()
        results = [row | {"score": float(found.score[i])} for i, row in enumerate(rows(found))]
        evaluation = COCOeval(reference, reference.loadRes(results), "bbox")
        evaluation.params.maxDets = limits
        evaluation.evaluate()
        evaluation.accumulate()
    return evaluation.eval["precision"], evaluation.eval["recall"]


def mean(values):
    return values[values > -1].mean() if (values > -1).any() else np.nan


def outlined(data, seed):
    """The same with areas of outlines, 30 to 80 % of their boxes; some are not stated, some are 0 or at a limit."""
    rng = np.random.default_rng(seed)
    truth = data.truth
    area = truth.area * rng.uniform(0.3, 0.8, len(truth))
    area[rng.random(len(truth)) < 0.2] = np.nan
    for odd in (0.0, 32.0**2, 96.0**2):
        area[rng.random(len(truth)) < 0.05] = odd
    return replace(data, truth=replace(truth, stated_area=area))


@pytest.mark.parametrize("areas", [False, True])
@pytest.mark.parametrize("seed", range(9))
@pytest.mark.parametrize("limit", [100, 12, 2])
def test_equal_to_pycocotools(seed, limit, areas):
    data = random_set(seed, crowds=seed % 3 == 1, ties=seed % 3 == 2, most=60)
    if areas:
        data = outlined(data, seed)
    precision, recall = oracle(data, [1, min(10, limit), limit])
    found = coco_scores(data, max_detections=limit)
    expected = {
        "ap": mean(precision[..., 0, 2]),
        "ap50": mean(precision[0, ..., 0, 2]),
        "ap75": mean(precision[5, ..., 0, 2]),
        "ap_small": mean(precision[..., 1, 2]),
        "ap_medium": mean(precision[..., 2, 2]),
        "ap_large": mean(precision[..., 3, 2]),
        "ar": mean(recall[..., 0, 2]),
        "ar_1": mean(recall[..., 0, 0]),
        "ar_10": mean(recall[..., 0, 1]),
    }
    for name, value in expected.items():
        assert getattr(found, name) == pytest.approx(value, abs=1e-12, nan_ok=True), name
    per_class = [mean(precision[:, :, k, 0, 2]) for k in range(4)]
    np.testing.assert_allclose(found.per_class, per_class, atol=1e-12)
    assert np.isnan(found.per_class[3])


@pytest.mark.parametrize("seed", range(3))
def test_files_are_read_as_pycocotools_reads_them(tmp_path, seed):
    """Areas of outlines, crowds, `ignore`, ids in no order and without a class: from the same two files."""
    pytest.importorskip("pycocotools")
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    data = outlined(random_set(seed, crowds=True, most=60), seed)
    rng = np.random.default_rng(seed)
    numbers, classes = rng.permutation(500)[:12] + 1, [7, 3, 90, 5]

    def row(boxes, i):
        x1, y1, x2, y2 = boxes.xyxy[i].tolist()
        at = {"image_id": int(numbers[boxes.image[i]]), "category_id": classes[boxes.label[i]]}
        return at | {"bbox": [x1, y1, x2 - x1, y2 - y1]}

    truth, found = data.truth, data.found
    content = {
        "images": [{"id": int(n), "file_name": f"{n}.jpg"} for n in numbers],
        "categories": [{"id": k, "name": str(k)} for k in classes],
        "annotations": [
            row(truth, i)
            | {"id": i + 1, "area": float(truth.size_area[i]), "iscrowd": int(truth.crowd[i])}
            | ({"ignore": 1} if rng.random() < 0.2 else {})
            for i in range(len(truth))
        ],
    }
    results = [row(found, i) | {"score": float(found.score[i])} for i in range(len(found))]
    paths = tmp_path / "truth.json", tmp_path / "found.json"
    for path, written in zip(paths, (content, results), strict=True):
        path.write_text(json.dumps(written))
    ours = coco_scores(read(*paths))
    with contextlib.redirect_stdout(io.StringIO()):
        reference = COCO(str(paths[0]))
        evaluation = COCOeval(reference, reference.loadRes(str(paths[1])), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    names = ("ap", "ap50", "ap75", "ap_small", "ap_medium", "ap_large", "ar_1", "ar_10", "ar")
    for name, value in zip(names, evaluation.stats, strict=False):
        assert getattr(ours, name) == pytest.approx(
            value if value > -1 else np.nan, abs=1e-12, nan_ok=True
        ), name


def test_the_stated_area_decides_what_is_small():
    """One true box of 40 x 40 with an outline of 800 square pixels, and one perfect detection."""
    box = [[0, 0, 40, 40]]
    found = Boxes.of([0], [0], box, [0.9])
    for area, small, medium in ((800, 1.0, np.nan), (np.nan, np.nan, 1.0), (None, np.nan, 1.0)):
        truth = Boxes.of([0], [0], box, stated_area=None if area is None else [area])
        scores = coco_scores(EvaluationSet(("i",), ("a",), truth, found))
        assert scores.ap == pytest.approx(1)
        np.testing.assert_allclose([scores.ap_small, scores.ap_medium], [small, medium])


def test_a_limit_of_one_detection():
    found = coco_scores(random_set(1), max_detections=1)
    assert found.ar == found.ar_1 == found.ar_10
    with pytest.raises(ValueError, match="at least 1"):
        coco_scores(random_set(1), max_detections=0)


def test_fractions_have_no_sizes():
    data = random_set(1)
    fractions = EvaluationSet(data.images, data.class_names, data.truth, data.found, pixels=False)
    found = coco_scores(fractions)
    assert np.isnan([found.ap_small, found.ap_medium, found.ap_large]).all()
    assert found.ap == coco_scores(data).ap


def test_without_truth_all_is_nan():
    none = Boxes.of([], [], [])
    found = coco_scores(EvaluationSet(("i",), ("a",), none, Boxes.of([0], [0], [[0, 0, 1, 1]], [0.5])))
    assert np.isnan(found.ap)
    assert np.isnan(found.per_class).all()
