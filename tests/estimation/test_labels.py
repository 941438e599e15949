"""Labels that people gave: read as they meant them, and every mistake named."""

from __future__ import annotations

import json

import numpy as np
import pytest

from app.errors import UserError
from app.estimation import Population
from app.estimation.labels import read_labels

CLASSES = ("cat", "dog", "T-shirt")


@pytest.fixture
def population() -> Population:
    ids = np.array(["a/1.png", "a/2.png", "b/3.png", "b/4.png", "5.png"])
    return Population("pets", ids, {"confidence": np.linspace(0.5, 0.9, 5)}, np.array([0, 1, 2, 0, 1]))


def write(path, text: str):
    path.write_bytes(text.encode())
    return path


def test_a_filled_table(tmp_path, population):
    table = "path,predicted_class,confidence,why,label\na/1.png,cat,0.5,x,cat\na/2.png,dog,0.6,x, CAT \nb/3.png,,,,\n"
    labels = read_labels(write(tmp_path / "l.csv", table), population, CLASSES)
    assert labels.outcomes.tolist() == [0, 1, -1, -1, -1]
    assert labels.classes.tolist() == [0, 0, -1, -1, -1]
    assert labels.count == 2


def test_labels_over_others(tmp_path, population):
    first = read_labels(
        write(tmp_path / "a.csv", "path,label\na/1.png,cat\na/2.png,wrong\n"), population, CLASSES
    )
    others = read_labels(
        write(tmp_path / "b.csv", "path,label\na/1.png,dog\nb/3.png,cat\n"), population, CLASSES
    )
    both = first.over(others)
    assert both.outcomes.tolist() == [0, 1, 1, -1, -1]
    assert both.classes.tolist() == [0, -1, 0, -1, -1]


@pytest.mark.parametrize("mark", [";", "\t"])
def test_what_spreadsheets_make_of_it(tmp_path, population, mark):
    text = "\ufeff" + mark.join(["path", "label"]) + "\r\n" + mark.join(["5.png", "T-Shirt"]) + "\r\n"
    assert read_labels(write(tmp_path / "l.csv", text), population, CLASSES).outcomes.tolist() == [
        -1,
        -1,
        -1,
        -1,
        1,
    ]


def test_numbers_and_outcomes_in_place_of_names(tmp_path, population):
    text = "path,label\na/1.png,0\na/2.png,1.0\nb/3.png,wrong\nb/4.png,correct\n"
    labels = read_labels(write(tmp_path / "l.csv", text), population, CLASSES)
    assert labels.outcomes.tolist() == [0, 0, 1, 0, -1]
    assert labels.classes.tolist() == [0, 1, -1, -1, -1]


def test_label_studio_whole_and_minimal(tmp_path, population):
    def task(data: dict, *choices: str, cancelled: bool = False) -> dict:
        result = [{"type": "choices", "value": {"choices": [choice]}} for choice in choices]
        return {"id": 7, "data": data, "annotations": [{"was_cancelled": cancelled, "result": result}]}

    whole = [
        task({"image": "data:image/png;base64,AA", "path": "a/1.png"}, "dog"),
        task({"image": "/data/upload/3/0a1b2c3d-2.png"}, "dog"),
        task({"image": "/data/local-files/?d=pets/b/3.png"}, "T-shirt"),
        task({"image": "/data/upload/3/0a1b2c3d-4.png"}, "dog", cancelled=True),
    ]
    (tmp_path / "export.json").write_text(json.dumps(whole))
    labels = read_labels(tmp_path / "export.json", population, CLASSES)
    assert labels.outcomes.tolist() == [1, 0, 0, -1, -1]
    minimal = [{"id": 1, "image": "x", "path": "5.png", "label": "dog"}]
    (tmp_path / "minimal.json").write_text(json.dumps(minimal))
    assert read_labels(tmp_path, population, CLASSES).outcomes.tolist() == [1, 0, 0, -1, 0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "path,label\na/1.png,cat\na/1.png,dog\n",
            r"twice with different values: a/1.png is 'cat' .*line 2.* and 'dog'",
        ),
        ("path,label\nzebra.png,cat\n", r"no case of pets is zebra.png \(l.csv line 2\)"),
        (
            "path,label\na/1.png,zebra\n",
            r"unknown class 'zebra' \(l.csv line 2\); allowed: cat, dog, T-shirt",
        ),
        ("path,label\na/1.png,3\n", r"unknown class '3'"),
        ("path,name\na/1.png,cat\n", r"has no column 'label'; it has: path, name"),
        ("label\ncat\n", r"has no column 'path'"),
        ("path,label\na/1.png\n", r"line 2 has 1 fields"),
        ("", r"l.csv: the file is empty"),
    ],
)
def test_mistakes_are_named(tmp_path, population, text, said):
    with pytest.raises(UserError, match=said):
        read_labels(write(tmp_path / "l.csv", text), population, CLASSES)


def test_the_same_label_twice_is_no_mistake(tmp_path, population):
    labels = read_labels(write(tmp_path / "l.csv", "path,label\n5.png,cat\n5.png,Cat\n"), population, CLASSES)
    assert labels.count == 1


def test_other_mistakes(tmp_path, population):
    with pytest.raises(UserError, match="does not exist"):
        read_labels(tmp_path / "none.csv", population)
    with pytest.raises(UserError, match=r"holds no .csv and no .json"):
        read_labels(tmp_path, population)
    (tmp_path / "x.csv").write_bytes(b"path,label\n\xff\xfe,cat\n")
    with pytest.raises(UserError, match="not UTF-8"):
        read_labels(tmp_path / "x.csv", population)
    with pytest.raises(UserError, match="no export of Label Studio"):
        read_labels(write(tmp_path / "x.json", "{}"), population)
    with pytest.raises(UserError, match="is not JSON"):
        read_labels(write(tmp_path / "y.json", "{"), population)
    unseen = Population("plain", np.arange(3).astype(str), {"confidence": np.array([0.1, 0.2, 0.3])})
    with pytest.raises(UserError, match="no predicted classes to compare"):
        read_labels(write(tmp_path / "z.csv", "id,label\n0,1\n"), unseen)
    assert read_labels(write(tmp_path / "z.csv", "id,label\n0,wrong\n"), unseen).outcomes.tolist() == [
        1,
        -1,
        -1,
    ]
