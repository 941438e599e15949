from __future__ import annotations

import numpy as np
import pytest
import torch

from app.diagnosis.detection.boxes import Boxes, EvaluationSet
from app.diagnosis.detection.coco import coco_scores
from app.errors import UserError
from app.subjects.detection import scene_detector as room
from app.subjects.detection.scene_detector import scene_detector
from app.subjects.detection.scenes import scenes
from app.subjects.detection.subject import DetectorSubject
from app.subjects.fashion import CLASS_NAMES


@pytest.fixture(scope="module")
def embedded():
    return scene_detector()


def overlap(one, other):
    """Intersection over union of two boxes."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    both = max(width, 0) * max(height, 0)
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)]
    return both / (sum(areas) - both)


def test_it_finds_items_it_has_not_seen(embedded):
    subject = DetectorSubject(embedded, scenes(n=30, seed=1))
    true = found = right = said = 0
    for i in range(len(subject)):
        with torch.inference_mode():
            output = embedded.module(embedded.to_images([subject.dataset.load(i)]))[0]
        sure = output["scores"] >= 0.5
        boxes = output["boxes"][sure].numpy()
        labels = embedded.to_classes(output["labels"][sure].numpy())
        truth = list(zip(subject.dataset.boxes(i), subject.labels(i), strict=True))
        hits = np.array(
            [
                [overlap(box, real) >= 0.5 and label == expected for real, expected in truth]
                for box, label in zip(boxes, labels, strict=True)
            ]
        ).reshape(len(boxes), len(truth))
        true, found = true + len(truth), found + hits.any(axis=0).sum()
        said, right = said + len(boxes), right + hits.any(axis=1).sum()
    assert true > 90
    assert found / true >= 0.8
    assert right / said >= 0.8


def test_its_average_precision(embedded):
    subject = DetectorSubject(embedded, scenes(n=60))
    truth, found = [], []
    for i in range(len(subject)):
        truth += [
            (i, label, *box) for label, box in zip(subject.labels(i), subject.dataset.boxes(i), strict=True)
        ]
        with torch.inference_mode():
            (output,) = embedded.module(embedded.to_images([subject.dataset.load(i)]))
        labels = embedded.to_classes(output["labels"].numpy())
        columns = zip(labels, output["boxes"].tolist(), output["scores"].tolist(), strict=True)
        found += [(i, label, *box, score) for label, box, score in columns]
    real, said = np.array(truth), np.array(found)
    scores = coco_scores(
        EvaluationSet(
            tuple(subject.dataset.paths),
            subject.classes,
            Boxes.of(*real[:, :2].T.astype(int), real[:, 2:]),
            Boxes.of(*said[:, :2].T.astype(int), said[:, 2:6], said[:, 6]),
        )
    )
    assert scores.ap >= 0.65  # .764 when it was trained
    assert scores.ap50 >= 0.87  # .880


def test_its_labels_are_the_items_classes(embedded):
    assert embedded.name == "scene_detector"
    assert embedded.class_names == CLASS_NAMES
    assert embedded.class_labels == tuple(range(1, 11))
    assert not embedded.module.training


def test_its_modules_are_called_as_torchvisions(embedded):
    modules = dict(embedded.module.named_modules())
    names = ("box_head.fc6", "box_head.fc7", "box_predictor.cls_score", "box_predictor.bbox_pred")
    assert all(isinstance(modules[f"roi_heads.{name}"], torch.nn.Linear) for name in names)
    for level in "01":
        for kind in ("inner_blocks", "layer_blocks"):
            assert f"backbone.fpn.{kind}.{level}" in modules
    assert "rpn.head" in modules
    assert sum(value.numel() for value in embedded.module.parameters()) == 653_166
    assert (room.ASSETS / room.WEIGHTS_FILE).stat().st_size <= 3_000_000


def test_pictures_of_other_sizes(embedded, picture):
    small, wide = embedded.to_images([picture(50, 40), picture(200, 90, mode="L")])
    with torch.inference_mode():
        found = embedded.module([small, wide])
    for each, (width, height) in zip(found, [(50, 40), (200, 90)], strict=True):
        assert (each["boxes"] >= 0).all()
        assert (each["boxes"][:, 2] <= width).all()
        assert (each["boxes"][:, 3] <= height).all()


def test_the_lowest_score(embedded):
    image = embedded.to_images([scenes(n=1).load(0)])
    strict = scene_detector(score_threshold=0.6)
    with torch.inference_mode():
        every, sure = embedded.module(image)[0], strict.module(image)[0]
    assert strict.digest == embedded.digest
    assert len(sure["scores"]) == (every["scores"] > 0.6).sum() > 0
    with pytest.raises(UserError, match=r"score_threshold must be in \[0, 1\), not 1"):
        scene_detector(score_threshold=1)


def test_a_changed_file_is_refused(tmp_path, monkeypatch):
    content = bytearray((room.ASSETS / room.WEIGHTS_FILE).read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / room.WEIGHTS_FILE).write_bytes(content)
    monkeypatch.setattr(room, "ASSETS", tmp_path)
    with pytest.raises(UserError, match=r"scene-detector.pt is not what was shipped"):
        scene_detector()
    (tmp_path / room.WEIGHTS_FILE).unlink()
    with pytest.raises(UserError, match=r"scene-detector.pt cannot be read"):
        scene_detector()
