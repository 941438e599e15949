"""Kinds of errors and calibration against hotcoco's, as far as both mean the same.

They differ where a crowd is near (hotcoco sorts its neighbours as if it were an object) and where a score is an
edge of a bin, which counts to the bin below here and to the one above there; so both are measured here.
"""

import hotcoco
import numpy as np
import pytest

from app.diagnosis.detection import evaluate

from .scenes import random_set

TIDE = {
    "classification": "Cls",
    "localisation": "Loc",
    "both": "Both",
    "duplicate": "Dupe",
    "background": "Bkg",
    "missed": "Miss",
}


def peer(data):
    truth, found = data.truth, data.found

    def xywh(corners):
        return np.hstack([corners[:, :2], corners[:, 2:] - corners[:, :2]])

    reference = hotcoco.COCO.from_arrays(
        [{"id": i + 1} for i in range(len(data.images))],
        [{"id": k + 1, "name": name} for k, name in enumerate(data.class_names)],
        truth.image + 1,
        truth.label + 1,
        xywh(truth.xyxy),
        iscrowd=truth.crowd.astype(np.int64),
    )
    results = reference.load_res(
        np.column_stack((found.image + 1, xywh(found.xyxy), found.score, found.label + 1))
    )
    evaluation = hotcoco.COCOeval(reference, results, "bbox")
    evaluation.params.max_dets = [1, 10, 10_000]
    evaluation.evaluate()
    return evaluation


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("iou", [0.5, 0.75])
@pytest.mark.parametrize("ties", [False, True])
def test_kinds_of_errors(seed, iou, ties):
    data = random_set(seed, ties=ties, most=60)
    counts = peer(data).tide_errors(pos_thr=iou)["counts"]
    ours = evaluate(data, iou=iou, resamples=1, coco=False).errors
    assert dict(ours) == {name: counts[theirs] for name, theirs in TIDE.items()}


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("crowds", [False, True])
def test_calibration(seed, crowds):
    data = random_set(seed, crowds=crowds, most=60)
    theirs = peer(data).calibration(n_bins=10)
    ours = evaluate(data, resamples=1, coco=False)
    assert ours.detections == theirs["num_detections"]
    assert ours.ece == pytest.approx(theirs["ece"], abs=1e-12)
