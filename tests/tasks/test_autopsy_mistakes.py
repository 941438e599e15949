"""One clear line for every mistake in what an autopsy is given, before anything is written or filed."""

from __future__ import annotations

import re

import numpy as np
import pytest

from app.diagnosis.autopsy import diagnose
from app.errors import UserError
from app.tasks.autopsy import Autopsy
from app.tasks.prediction_tables import read_predictions


@pytest.fixture(scope="module")
def arrays(assay):
    """300 rows of probabilities of three classes and labels, in files."""
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=300)
    probs = np.full((300, 3), 0.05) + 0.85 * np.eye(3)[labels]
    folder = assay.folder / "files"
    folder.mkdir()
    np.save(folder / "probs.npy", probs)
    np.save(folder / "labels.npy", labels)
    (folder / "broken.npy").write_bytes(b"no array")
    (folder / "broken.parquet").write_bytes(b"no table")
    (folder / "none.csv").write_text("a,b,label\n")
    (folder / "words.csv").write_text("a,b,c\n1,0,0\n0,x,1\n")
    (folder / "names.csv").write_text("label\n" + "cow\n" * 300)
    np.save(folder / "objects.npy", np.array(["a"] * 300, dtype=object))
    return folder, probs, labels


def assert_refused(ended, sentence):
    assert ended.code == 2
    assert ended.err.count("\n") == 1
    assert re.match(f"error: {sentence}", ended.err), ended.err
    assert not (ended.folder / "report.json").exists()


def changed(probs, rows, value):
    out = probs.copy()
    out[rows] = value
    return out


WRONG = {
    "not finite": (
        lambda p, k: (changed(p, [3, 17], np.nan), k),
        r"rows 3, 17 of the probabilities hold NaN or infinity; .*on_invalid=drop",
    ),
    "sum": (lambda p, k: (changed(p, [5], 0.2), k), r"row 5 of the probabilities does not sum to 1"),
    "sigmoid": (lambda p, k: (p * 0.5 + 0.3, k), r"the rows are in \[0, 1\] and sum to .*multi-label"),
    "per cents": (lambda p, k: (p * 100, k), r"the rows sum to 100, as per cents do: divide them by 100"),
    "lengths": (lambda p, k: (p, k[:-2]), r"298 labels for 300 rows of probabilities"),
    "outside": (lambda p, k: (p, np.where(k == 0, 9, k)), r".*rows .* have a label outside 0\.\.2"),
    "negative": (lambda p, k: (p, k - 1), r".*have a label outside 0\.\.2"),
    "one column": (lambda p, k: (p[:, :1], k), r"probabilities of shape \(300, 1\) have one column"),
    "empty": (lambda p, k: (p[:0], k[:0]), r"the array of probabilities is empty"),
    "flat": (lambda p, k: (p[:, 0], k), r"probs=.* must hold one row a test case"),
    "fractions": (lambda p, k: (p, k + 0.5), r"labels must be whole numbers in 0\.\.2, not .*\(row 0\)"),
}


def diagnosed(probs, labels, **more):
    """What the task makes of files, without its report."""
    table = read_predictions(str(probs), str(labels), **more)
    return diagnose(table.probs, table.labels, table.class_names)


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arrays_are_one_clear_line(arrays, tmp_path, name):
    make, sentence = WRONG[name]
    rows, given = make(*arrays[1:])
    np.save(tmp_path / "probs.npy", rows)
    np.save(tmp_path / "labels.npy", given)
    with pytest.raises(UserError) as caught:
        diagnosed(tmp_path / "probs.npy", tmp_path / "labels.npy")
    assert re.match(sentence, str(caught.value)), caught.value
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["not finite", "sum"])
def test_they_leave_neither_report_nor_run(assay, arrays, name):
    folder, probs, labels = arrays
    make, sentence = WRONG[name]
    np.save(folder / "wrong.npy", make(probs, labels)[0])
    before = len(assay.runs())
    assert_refused(assay("task=autopsy", "probs=files/wrong.npy", "labels=files/labels.npy"), sentence)
    assert len(assay.runs()) == before


FILES = {
    ("nope.npy", None): "probs=.*nope.npy does not exist",
    (".", None): r"probs=.* is no file",
    ("../users_code.py", None): r"probs=.*users_code.py must end in \.npy, \.csv, .* or \.pq",
    ("probs.npy", None): "labels must be given: labels=FILE",
    ("broken.npy", None): "probs=.*broken.npy cannot be read as an array",
    ("broken.parquet", None): "probs=.*broken.parquet cannot be read as a Parquet file",
    ("none.csv", None): "probs=.*none.csv has no rows",
    ("words.csv", "labels.npy"): "probs=.*words.csv: column 'b' holds 'x' in line 3, which is no number",
    ("probs.npy", "names.csv"): ".*names.csv has labels that are no class, the first is 'cow' .line 2.; allowed: 0,",
    ("probs.npy", "objects.npy"): "labels=.*objects.npy cannot be read as an array: it holds pickled Python objects",
}  # fmt: skip


@pytest.mark.parametrize(("probs", "labels"), FILES)
def test_wrong_files_are_one_clear_line(arrays, probs, labels):
    folder, *_ = arrays
    with pytest.raises(UserError) as caught:
        read_predictions(str(folder / probs), None if labels is None else str(folder / labels))
    assert re.match(FILES[probs, labels], str(caught.value)), caught.value
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (["a", "b"], "2 class names for 3 columns of probabilities"),
        (["a", "a", "b"], "task.class_names holds 'a' twice"),
        ("nope.json", r"task.class_names=nope\.json does not exist"),
    ],
)
def test_wrong_class_names_are_one_clear_line(arrays, names, sentence):
    folder, *_ = arrays
    with pytest.raises(UserError, match=sentence):
        diagnosed(folder / "probs.npy", folder / "labels.npy", class_names=names)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {"probs": None},
            "task=autopsy needs a model and its data, .*, or what a model said, probs=FILE labels=FILE",
        ),
        ({"resamples": 0}, "task.resamples must be 1 or more, not 0"),
        ({"train_accuracy": 91}, "task.train_accuracy must be from 0 to 1, not 91"),
        ({"name": "a@b"}, "task.name must not be empty nor hold '@': 'a@b'"),
    ],
)
def test_a_wrong_value_is_one_clear_line(arrays, given, sentence):
    folder, *_ = arrays
    files = {"probs": str(folder / "probs.npy"), "labels": str(folder / "labels.npy")}
    with pytest.raises(UserError, match=sentence):
        Autopsy(**{**files, "store": None, **given})


SAVED = ["probs=files/probs.npy", "labels=files/labels.npy"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([*SAVED, "profile=paper"], "profile must be one of assay, original or null, not 'paper'"),
        ([*SAVED, "on_invalid=skip"], "on_invalid must be one of error, drop, not 'skip'"),
        ([*SAVED, "+task.weights.nope=2"], "weights are numbers from 0 on for .*; nope is not"),
        (["model=fashion_cnn"], "task=autopsy needs a dataset beside the model"),
        (["model=fashion_cnn", "dataset=fashion", *SAVED], "probs stands in for a model"),
        (
            ["model=fashion_cnn", "dataset=fashion", "dataset.max_samples=20", "task.layer=conv9"],
            "task.layer=conv9 is no module",
        ),
        (["operators=[weight_noise]", *SAVED], "task=autopsy does not read 'operators'"),
    ],
)
def test_a_wrong_setting_is_one_clear_line(assay, arrays, given, sentence):
    assert_refused(assay("task=autopsy", *given), sentence)
