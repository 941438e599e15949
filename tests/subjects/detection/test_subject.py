from __future__ import annotations

from dataclasses import replace

import pytest
from torch import nn

from app.errors import UserError
from app.subjects.detection.coco import coco
from app.subjects.detection.detector import detector
from app.subjects.detection.subject import DetectorSubject
from app.subjects.detection.yolo import yolo


@pytest.fixture
def data(written):
    return coco(written.coco(), written.images)


def model(names, **options):
    return detector(nn.Linear(1, 1), "finder", class_names=names, notes=["loaded"], **options)


def test_classes_are_matched_by_name(data):
    subject = DetectorSubject(model(["emu", "fox", "dog", "cat"]), data)
    assert (subject.name, len(subject), subject.num_classes) == ("finder@coco", 4, 4)
    assert subject.classes == ("emu", "fox", "dog", "cat")
    assert [subject.labels(i).tolist() for i in range(4)] == [[2, 3], [], [0], [3, 3, 2]]
    assert subject.notes == ("loaded",)
    assert (subject.model_digest, subject.data_digest) == (subject.model.digest, data.digest)


def test_only_classes_with_objects_must_be_known(data):
    assert DetectorSubject(model(["dog", "cat"]), data.subset([0, 3])).labels(0).tolist() == [0, 1]
    with pytest.raises(
        UserError, match=r"coco has objects of classes that the model does not know: emu; .* dog, cat"
    ):
        DetectorSubject(model(["dog", "cat"]), data)
    ignored = replace(data.subset([0]), ignored=(data.objects[2],))
    with pytest.raises(UserError, match="does not know: emu"):
        DetectorSubject(model(["dog", "cat"]), ignored)


def test_unnamed_sides(written, data):
    subject = DetectorSubject(model(None), data)
    assert subject.classes == data.class_names
    assert subject.labels(0).tolist() == [1, 0]
    assert subject.notes[1].endswith("the labels 1..3 of the model are taken to be cat, dog, emu")
    assert "labels 0..2" in DetectorSubject(model(None, background=False), data).notes[1]
    numbers = yolo(written.images, written.yolo())
    subject = DetectorSubject(model(["a", "b", "c", "d"]), numbers)
    assert subject.classes == ("a", "b", "c", "d")
    assert subject.labels(0).tolist() == [1, 0]
    with pytest.raises(UserError, match=r"labels of images go up to 2, but model.class_names has only 2"):
        DetectorSubject(model(["a", "b"]), numbers)
