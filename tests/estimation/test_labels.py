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


def one(*ids: str, predicted: int = 0) -> Population:
    return Population("pets", np.array(ids), {}, np.full(len(ids), predicted))


@pytest.mark.parametrize(
    ("table", "classes", "outcomes"),
    [
        ("id,label\nx,1\ny,1.0\n", ("1", "2", "3"), [0, 0]),
        ("id;label\nx;2\ny;2,0\n", ("1", "2", "3"), [1, 1]),
        ("id,label\nx,a\ny,A\n", ("a", "A"), [0, 1]),
        ("x|a\ny|A\n", ("a", "A"), [0, 1]),
        ("ROW ID\tLabel\nx\ta\ny\t\n", ("a", "A"), [0, -1]),
        ("file,id,label\n/srv/1.png,x,a\n/srv/2.png,y,a\n", ("a", "A"), [0, 0]),
    ],
)
def test_labels_mean_the_same_in_every_table(tmp_path, table, classes, outcomes):
    found = read_labels(write(tmp_path / "l.csv", table), one("x", "y"), classes)
    assert found.outcomes.tolist() == outcomes


def test_an_index_counts_cases_that_have_no_names(tmp_path):
    table = write(tmp_path / "l.csv", ",label\n0,cat\n1,dog\n")
    assert read_labels(table, one("0", "1"), CLASSES).outcomes.tolist() == [0, 1]


def test_latin_text_is_noted(tmp_path):
    (tmp_path / "l.csv").write_bytes("id,label\nx,Bär\n".encode("latin-1"))
    found = read_labels(tmp_path / "l.csv", one("x"), ("Bär", "dog"))
    assert (found.count, found.notes) == (
        1,
        ("l.csv is not UTF-8: it was read as Latin-1 (Windows-1252)",),
    )


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("word", ["correct", "WRONG "])
def test_an_outcome_counts_for_the_prediction_it_was_given_for(tmp_path, population, mark, word):
    lines = ["path,predicted_class,label", f"a/1.png,CAT,{word}", f"a/2.png,cat,{word}"]
    table = "\n".join(lines).replace(",", mark)
    with pytest.raises(
        UserError,
        match=rf"l.csv line 3: '{word.strip()}' was said of a/2.png when the predicted class was 'cat'; now it is "
        "'dog': give the true class instead, or clear the label",
    ):
        read_labels(write(tmp_path / "l.csv", table), population, CLASSES)
    kept = read_labels(
        write(tmp_path / "l.csv", table.replace("png" + mark + "cat", "png" + mark + "dog")),
        population,
        CLASSES,
    )
    assert kept.count == 2
    true = read_labels(write(tmp_path / "l.csv", table.replace(word, "cat")), population, CLASSES)
    assert true.outcomes.tolist() == [0, 1, -1, -1, -1]  # a true class holds for any prediction


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("AUGUST/3.png", r"no case of pets is AUGUST/3.png \(l.csv line 2\)"),
        ("1.png", None),
        ("C:\\x\\b\\3.png", None),
    ],
)
def test_paths_are_found_by_their_unambiguous_end(tmp_path, population, path, said):
    table = write(tmp_path / "l.csv", f"path,label\n{path},cat\n")
    if said is None:
        assert read_labels(table, population, CLASSES).count == 1
    else:
        with pytest.raises(UserError, match=said):
            read_labels(table, population, CLASSES)


@pytest.mark.parametrize(
    ("task", "outcome"),
    [
        ({"path": "5.png", "label": {"choices": ["dog"]}}, 0),
        ({"path": "5.png", "species": {"choices": ["cat"]}, "annotator": 1}, 1),
        ({"path": "5.png", "choices": ["dog"]}, 0),
        ({"path": "5.png", "label": 1.0}, 0),
        ({"image": "/data/upload/1/8f3a0011-5.png", "label": "dog"}, 0),
        ({"path": "5.png", "label": None}, -1),
        (
            {"path": "5.png", "label": {"choices": ["dog", "cat"]}},
            r"task 1 has 2 choices \('dog', 'cat'\): give one",
        ),
        ({"path": "5.png", "species": "dog", "annotator": 1}, "task 1 has no choice called 'label'"),
        (
            {"path": "5.png", "predicted": "cat", "label": "wrong"},
            "x.json task 1: 'wrong' was said of 5.png when",
        ),
    ],
)
def test_minimal_exports(tmp_path, population, task, outcome):
    (tmp_path / "x.json").write_text(json.dumps([task]))
    if isinstance(outcome, int):
        assert read_labels(tmp_path / "x.json", population, CLASSES).outcomes[4] == outcome
    else:
        with pytest.raises(UserError, match=outcome):
            read_labels(tmp_path / "x.json", population, CLASSES)


def test_whole_exports_say_what_they_do_not_answer(tmp_path, population):
    def result(name: str, **value: object) -> dict:
        return {"from_name": name, "value": value}

    def task(*results: dict) -> str:
        return json.dumps([{"id": 4, "data": {"path": "5.png"}, "annotations": [{"result": results}]}])

    label = result("label", choices=["dog"])
    (tmp_path / "x.json").write_text(task(result("quality", choices=["good"]), label))
    assert read_labels(tmp_path / "x.json", population, CLASSES).outcomes[4] == 0
    for results, said in (
        ([result("label", choices=["dog", "cat"])], "task 4 has 2 choices"),
        ([result("a", choices=["dog"]), result("b", choices=["cat"])], r"answers several questions \(a, b\)"),
        ([result("label", text=["dog"])], "task 4 has an annotation and no choice"),
    ):
        (tmp_path / "x.json").write_text(task(*results))
        with pytest.raises(UserError, match=said):
            read_labels(tmp_path / "x.json", population, CLASSES)


def test_deeply_nested_labels_are_one_line(tmp_path, population):
    with pytest.raises(UserError, match=r"deep.json is not JSON that can be read: it is nested too deeply"):
        read_labels(write(tmp_path / "deep.json", "[" * 50_000), population, CLASSES)
