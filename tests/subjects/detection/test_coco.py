from __future__ import annotations

import json

import numpy as np
import pytest

from app.errors import UserError
from app.subjects.detection.coco import coco


def test_boxes_and_categories(written):
    data = coco(written.coco(), written.images, name="mine")
    assert (data.name, data.class_names, data.named) == ("mine", ("cat", "dog", "emu"), True)
    assert data.paths == ("a.png", "b.png", "sub/c.png", "sub/d.png")
    np.testing.assert_array_equal(data.boxes(0), [[4, 2, 12, 10], [0, 0, 40, 20]])
    assert data.labels(0).tolist() == [1, 0]


def test_crowds_are_ignored(written):
    annotation = {"id": 1, "image_id": 100, "category_id": 20, "bbox": [1, 2, 3, 4], "iscrowd": 1}
    data = coco(written.coco(annotations=[annotation]), written.images)
    assert data.num_objects == 0
    assert data.ignored[0].boxes.tolist() == [[1, 2, 4, 6]]
    assert data.ignored[0].labels.tolist() == [1]


def test_a_sample_is_drawn_before_pictures_are_read(written):
    path = written.coco()
    everything = coco(path, written.images)
    part = coco(path, written.images, max_samples=2, seed=5)
    assert part.digest == everything.sample(2, seed=5).digest


def object_(**changes):
    return {"id": 7, "image_id": 100, "category_id": 10, "bbox": [1, 1, 2, 2]} | changes


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"images": 3}, "has no list 'images'"),
        ({"images": []}, "lists no image"),
        ({"categories": []}, "lists no category"),
        ({"categories": [{"id": 1, "name": "a"}, {"id": 1, "name": "b"}]}, r"categories\[1\]: id 1 .* twice"),
        ({"categories": [{"id": 1}]}, r"categories\[0\]: name must be a text, not None"),
        ({"categories": ["cat"]}, r"categories\[0\] must be an object with 'id', not 'cat'"),
        ({"images": [{"id": None, "file_name": "a.png"}]}, r"images\[0\]: id must be an integer or a text"),
        ({"images": [{"id": 1, "file_name": "a.png"}] * 2}, r"images\[1\]: id 1 is there twice"),
        ({"images": [{"id": 1}], "annotations": []}, r"images\[0\]: file_name must be a text"),
        (
            {"images": [{"id": 1, "file_name": "../a.png"}], "annotations": []},
            r"images\[0\] names the picture '../a.png', which does not lie in",
        ),
        (
            {"images": [{"id": 1, "file_name": "no.png"}], "annotations": []},
            r"images\[0\]: picture .*no.png does not exist",
        ),
        (
            {"images": [{"id": 1, "file_name": "a.png", "width": 9, "height": 20}], "annotations": []},
            r"images\[0\]: a.png is 40x20 pixels \(upright\), but 9x20 is stated",
        ),
        (
            {"images": [{"id": 1, "file_name": "a.png", "width": "9", "height": 20}], "annotations": []},
            "width must be an integer",
        ),
        ({"annotations": [object_(image_id=1)]}, r"annotations\[0\] \(id 7\): image_id 1 is none of the"),
        ({"annotations": [object_(category_id=1)]}, r"\(id 7\): category_id 1 is an unknown class"),
        (
            {"annotations": [object_(bbox=[1, 2, 3])]},
            r"bbox must be four finite numbers \[x, y, width, height\]",
        ),
        ({"annotations": [object_(bbox="1234")]}, "bbox must be"),
        ({"annotations": [object_(bbox=[1, 2, 3, None])]}, "four finite numbers"),
        ({"annotations": [object_(bbox=[1, 2, 3, True])]}, "four finite numbers"),
        ({"annotations": [object_(bbox=[1, 2, 3, float("nan")])]}, "four finite numbers"),
        ({"annotations": [object_(bbox=[1, 2, 3, 10**400])]}, "four finite numbers"),
        ({"annotations": [object_(bbox=[1, 2, 0, 4])]}, r"\(id 7\): bbox \[1, 2, 0, 4\] has no area"),
        ({"annotations": [object_(bbox=[1, 2, 5, -4])]}, "has a negative height"),
        ({"annotations": [object_(bbox=[30, 2, 20, 4])]}, r"\[30, 2, 50, 6\] lies outside a.png"),
        ({"annotations": [object_(iscrowd=2)]}, "iscrowd must be 0 or 1, not 2"),
        ({"annotations": [5]}, r"annotations\[0\] must be an object"),
    ],
)
def test_mistakes_are_named(written, changes, message):
    path = written.coco(**changes)
    with pytest.raises(UserError, match=message) as caught:
        coco(path, written.images)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"images": [\n1,, 2]}', "line 2 column 3: no valid JSON"),
        ("", "line 1 column 1: no valid JSON"),
        ("[]", "must hold a JSON object"),
        ("[" * 100_000, "no valid JSON"),
        ("9" * 10_000, "no valid JSON"),
    ],
)
def test_files_that_are_no_coco(tmp_path, text, message):
    (tmp_path / "c.json").write_text(text)
    with pytest.raises(UserError, match=f"c.json.*{message}"):
        coco(tmp_path / "c.json", tmp_path)


def test_missing_files(tmp_path):
    with pytest.raises(UserError, match=r"c.json does not exist"):
        coco(tmp_path / "c.json", tmp_path)
    (tmp_path / "c.json").write_text(json.dumps({}))
    with pytest.raises(UserError, match=r"dataset.images .*nowhere does not exist"):
        coco(tmp_path / "c.json", tmp_path / "nowhere")
