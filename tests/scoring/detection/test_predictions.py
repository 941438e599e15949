import json

import numpy as np
import pytest

from app.errors import UserError
from app.scoring.detection.predictions import as_objects, read_folders, write_folder

GOOD = {"box": [0, 0, 9.5, 9], "label": 1, "score": 0.8, "logit": [0.1, 0.8, 0.1]}


def put(folder, *repetitions):
    folder.mkdir(parents=True, exist_ok=True)
    for number, content in enumerate(repetitions):
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / f"prediction_{number}.json").write_text(text)
    return folder


def read(*folders, **options):
    return read_folders([folder.name for folder in folders], list(folders), **options)


def test_a_log_goes_to_files_and_back_to_the_last_bit(tmp_path, scene):
    rng = np.random.default_rng(0)
    rows = rng.dirichlet(np.ones(3), 3)
    corners = rng.uniform(0, 1, (3, 2)) / 3
    cells = [
        scene(*(([*corner, *(corner + 1)], 1, row) for corner, row in zip(corners, rows, strict=True))),
        scene(),
        scene(([0, 0, 1, 1], 2)),
    ]
    write_folder(tmp_path / "a", cells)
    log = read(tmp_path / "a")
    for repetition, cell in enumerate(cells):
        again = log.at(0, repetition)
        assert np.array_equal(again.boxes, cell.boxes)
        assert np.array_equal(again.scores, cell.scores)
        assert again.labels.tolist() == cell.labels.tolist()
        assert not len(cell) or np.array_equal(again.probs, cell.probs)


def test_float32_keeps_its_value(scene):
    found = scene(([0.1, 0, 1, 1], 2))
    narrow = as_objects(
        type(found)(
            *(array.astype(np.float32) for array in (found.boxes,)), found.labels, found.scores, found.probs
        )
    )
    assert narrow["label_0"]["box"][0] == float(np.float32(0.1))


def test_order_ids_and_whole_numbers_are_kept(tmp_path):
    other = GOOD | {"label": 2.0, "box": [1, 2, 3, 4]}
    log = read(put(tmp_path / "a", {"z": GOOD, "a": other}, {}))
    assert log.labels.tolist() == [1, 2]
    assert log.boxes[1].tolist() == [1, 2, 3, 4]
    assert log.offsets.tolist() == [0, 2, 2]
    assert log.boxes.dtype == np.float64


def test_folders_may_have_different_numbers_of_repetitions(tmp_path):
    folders = put(tmp_path / "a", {}, {"x": GOOD}), put(tmp_path / "b", {})
    assert read(*folders).repetitions.tolist() == [2, 1]
    assert read(*folders, repetitions=1).repetitions.tolist() == [1, 1]
    assert read(folders[1]).classes == 0


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"box": [0, 0, float("nan"), 1]}, "its box holds NaN or infinity"),
        ({"box": [5, 0, 4, 1]}, "its box has x2 < x1"),
        ({"box": [0, 0, 1]}, "its 'box' has 3 numbers; 4 are allowed"),
        ({"box": "0 0 1 1"}, "its 'box' is not a list of numbers"),
        ({"box": [0, 0, "1", 1]}, "its 'box' is not a list of numbers"),
        ({"box": [0, 0, True, 1]}, "its 'box' is not a list of numbers"),
        ({"label": 3}, "its label is outside its class row; 0 to 2 is allowed"),
        ({"label": -1}, "its label is outside its class row"),
        ({"label": 1.5}, "its 'label' is not a whole number"),
        ({"label": "cat"}, "its 'label' is not a number"),
        ({"label": True}, "its 'label' is not a number"),
        ({"label": 10**30}, "its 'label' is not a number"),
        ({"label": float("nan")}, "its 'label' is not a whole number"),
        ({"score": None}, "its 'score' is not a number"),
        ({"score": float("inf")}, "its score is NaN or infinity"),
        ({"logit": [0.5, 0.5]}, "its 'logit' has 2 numbers; 3 are allowed"),
        ({"logit": [0.5, "a", 0.5]}, "its 'logit' is not a list of numbers"),
        ({"logit": 7}, "its 'logit' is not a list of numbers"),
        ({"logit": [0.1, float("nan"), 0.1]}, "its class row holds NaN"),
    ],
)
def test_a_bad_object_is_named_with_its_file(tmp_path, change, sentence):
    folder = put(tmp_path / "a", {"first": GOOD}, {"second": GOOD, "third": GOOD | change})
    with pytest.raises(UserError) as caught:
        read(folder)
    assert str(caught.value).startswith(f"{folder / 'prediction_1.json'}: object 'third': {sentence}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("field", ["box", "label", "score", "logit"])
def test_a_missing_field_is_named(tmp_path, field):
    item = {name: value for name, value in GOOD.items() if name != field}
    with pytest.raises(UserError, match=f"prediction_0.json: object 'x': has no '{field}'"):
        read(put(tmp_path / "a", {"x": item}))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ('{"x": ', "malformed JSON"),
        ("", "malformed JSON"),
        ("[" * 100_000, "malformed JSON"),
        ("[1, 2]", "holds a list"),
        ('{"x": [1]}', "object 'x': is a list"),
        ('{"x": null}', "object 'x': is a NoneType"),
    ],
)
def test_a_malformed_file_is_named(tmp_path, content, sentence):
    with pytest.raises(UserError, match=f"prediction_0.json: .*{sentence}|prediction_0.json: {sentence}"):
        read(put(tmp_path / "a", content))


def test_bytes_that_are_no_text(tmp_path):
    folder = put(tmp_path / "a", {})
    (folder / "prediction_0.json").write_bytes(b"\xff\xfe\x00{")
    with pytest.raises(UserError, match="malformed JSON"):
        read(folder)


def test_class_counts_must_agree_over_images(tmp_path):
    two = GOOD | {"logit": [0.2, 0.8]}
    folders = put(tmp_path / "a", {"x": GOOD}), put(tmp_path / "b", {}, {"y": two})
    with pytest.raises(
        UserError, match=r"b/prediction_1.json: object 'y': its 'logit' has 2 numbers; 3 are allowed"
    ):
        read(*folders)


def test_a_missing_repetition_is_named(tmp_path):
    folder = put(tmp_path / "a", {}, {}, {})
    (folder / "prediction_1.json").unlink()
    with pytest.raises(UserError, match=r"prediction_1.json: this repetition is missing"):
        read(folder)
    with pytest.raises(UserError, match=r"prediction_2.json: this repetition is missing"):
        read(put(tmp_path / "b", {}, {}), repetitions=3)
    (tmp_path / "c").mkdir()
    with pytest.raises(UserError, match=r"c/prediction_0.json: this repetition is missing"):
        read(tmp_path / "c")
    with pytest.raises(UserError, match="d: no such folder of predictions"):
        read(tmp_path / "d")


def test_rows_that_are_no_probabilities_are_named_where_asked(tmp_path):
    folder = put(tmp_path / "a", {"x": GOOD}, {"x": GOOD, "y": GOOD | {"logit": [-2, 3, 0]}})
    assert len(read(folder).labels) == 3
    with pytest.raises(UserError, match=r"prediction_1.json: object 'y': its class row is negative"):
        read(folder, probabilities=True)
    with pytest.raises(UserError, match="object 'y': its class row leaves"):
        read(folder, probabilities=True, semantics="sigmoid")
