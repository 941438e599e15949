"""Which images and classes of two sources are the same."""

import json

import numpy as np
import pytest

from app.diagnosis.detection.files import read
from app.errors import UserError


def truth_of(tmp_path, *names, categories=(("1", "cat"), ("2", "dog")), ids=None):
    """A COCO ground truth with a box in every image."""
    ids = ids or range(10, 10 + len(names))
    content = {
        "images": [{"id": i, "file_name": name} for i, name in zip(ids, names, strict=True)],
        "categories": [{"id": int(i), "name": name} for i, name in categories],
        "annotations": [{"image_id": i, "category_id": 1, "bbox": [0, 0, 9, 9]} for i in ids],
    }
    path = tmp_path / "truth.json"
    path.write_text(json.dumps(content))
    return path


def flat(tmp_path, *names, label="cat"):
    path = tmp_path / "found.json"
    row = {"class_name": label, "bbox": [0, 0, 9, 9], "score": 0.5}
    path.write_text(json.dumps([row | {"image_id": name} for name in names]))
    return path


def found_in(truth, found):
    data = read(truth, found)
    return [data.images[i] for i in data.found.image]


@pytest.mark.parametrize(
    ("names", "found", "expected"),
    [
        (("a.jpg", "b.jpg"), ["a", "b.jpg"], ["a.jpg", "b.jpg"]),
        (("x/a.jpg", "y/b.jpg"), ["a", "b.jpg"], ["x/a.jpg", "y/b.jpg"]),
        (("x/a.jpg", "y/a.jpg"), ["y/a", "x/a.jpg"], ["y/a.jpg", "x/a.jpg"]),
        (("a.jpg", "x/a.jpg"), ["a", "x/a"], ["a.jpg", "x/a.jpg"]),
        (("a.jpg",), ["val/a.jpg", "val/a.jpg"], ["a.jpg", "a.jpg"]),
        (("x\\a.jpg",), ["x/a.jpg"], ["x\\a.jpg"]),
        (("scene.001.jpg", "scene.002.jpg"), ["scene.002"], ["scene.002.jpg"]),
        (("a.jpg", "10.jpg"), [10], ["a.jpg"]),  # a number of the file before the start of a name
        (("10", "b.jpg"), ["10"], ["10"]),  # a name before a number
    ],
)
def test_images_by_the_shortest_end_of_a_path_that_fits_one(tmp_path, names, found, expected):
    assert found_in(truth_of(tmp_path, *names), flat(tmp_path, *found)) == expected


@pytest.mark.parametrize(
    ("names", "found", "message"),
    [
        (("x/a.jpg", "y/a.jpg"), ["a"], r"image 'a' .* fits both 'x/a.jpg' and 'y/a.jpg'"),
        (("a.jpg", "a.png"), ["a"], r"fits both 'a.jpg' and 'a.png'"),
        (("a.jpg",), ["u/a.jpg", "v/a.jpg"], r"'u/a.jpg' and 'v/a.jpg' both fit 'a.jpg'"),
        (("a.jpg",), ["b"], r"1 images of .* are not in .*: 'b'; it lists all images"),
    ],
)
def test_images_that_fit_none_or_several(tmp_path, names, found, message):
    with pytest.raises(UserError, match=message):
        read(truth_of(tmp_path, *names), flat(tmp_path, *found))


def test_results_call_images_and_classes_by_number(tmp_path):
    truth = truth_of(tmp_path, "10.jpg", "11.jpg", ids=[11, 10], categories=(("1", "2"), ("2", "1")))
    path = tmp_path / "results.json"
    path.write_text(json.dumps([{"image_id": 11, "category_id": 1, "bbox": [0, 0, 9, 9], "score": 0.5}]))
    data = read(truth, path)
    assert [data.images[i] for i in data.found.image] == ["10.jpg"]
    assert [data.class_names[k] for k in data.found.label] == ["2"]


def test_the_number_of_a_category_that_was_left_out_is_its_namesake(tmp_path):
    truth = truth_of(tmp_path, "a.jpg", categories=(("0", "cat"), ("1", "cat")))
    path = tmp_path / "results.json"
    path.write_text(json.dumps([{"image_id": 10, "category_id": 0, "bbox": [0, 0, 9, 9], "score": 0.5}]))
    data = read(truth, path)
    assert data.class_names == ("cat",)
    assert data.found.label.tolist() == [0]


def test_subfolders_of_text_and_xml(tmp_path):
    for name in ("x/a", "y/a"):
        for folder, ending, text in (
            (
                "truth",
                "xml",
                "<annotation><object><name>0</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>9</xmax>"
                "<ymax>9</ymax></bndbox></object></annotation>",
            ),
            (
                "found",
                "xml",
                "<annotation><object><name>0</name><score>0.5</score><bndbox><xmin>1</xmin><ymin>1</ymin>"
                "<xmax>9</xmax><ymax>9</ymax></bndbox></object></annotation>",
            ),
            ("yolo", "txt", "0 0.5 0.5 0.2 0.2 0.9"),
        ):
            file = tmp_path / folder / f"{name}.{ending}"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    assert found_in(tmp_path / "truth", tmp_path / "found") == ["x/a", "y/a"]
    data = read(tmp_path / "truth", tmp_path / "yolo", image_sizes={"x/a": (10, 10), "y/a": (20, 20)})
    np.testing.assert_allclose(data.found.xyxy, [[4, 4, 6, 6], [8, 8, 12, 12]])
    assert data.images == ("x/a", "y/a")


def test_results_with_a_blank_in_the_class(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    (folder / "comp4_det_test_traffic_light.txt").write_text("a 0.5 1 1 10 10\n")
    (folder / "comp4_det_myset_dog.txt").write_text("a 0.5 1 1 10 10\n")
    truth = tmp_path / "none.json"
    truth.write_text("[]")
    assert set(read(truth, folder).class_names) == {"traffic_light", "dog"}
    [*_, note] = read(truth, folder, first_pixel=0).notes
    assert "are counted from 0 (first_pixel)" in note
    assert read(truth, folder, first_pixel=0).found.xyxy.tolist() == [[1, 1, 10, 10]] * 2


def test_a_folder_of_two_forms(tmp_path):
    """XML says more than text; what the folder itself holds says more than its subfolders."""
    xml = (
        "<annotation><object><name>a</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>9</xmax><ymax>9</ymax></bndbox>"
        "</object></annotation>"
    )
    none = tmp_path / "none.json"
    none.write_text("[]")
    for folder, files, form in (
        ("one", {"a.xml": xml, "a.txt": "0 .5 .5 .1 .1"}, "Pascal VOC XML"),
        ("two", {"old/a.xml": xml, "a.txt": "0 .5 .5 .1 .1"}, "YOLO text"),
    ):
        for name, text in files.items():
            file = tmp_path / folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        data = read(tmp_path / folder, none)
        assert data.forms[0] == form
        assert "file: not read" in data.notes[0]
