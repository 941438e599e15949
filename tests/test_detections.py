import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.detections import DetectionLog, Detections, find_fault, load, ranges, save
from app.errors import UserError


def some(count, classes=3, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    corner = rng.uniform(0, 50, (count, 2))
    boxes = np.hstack([corner, corner + rng.uniform(0, 30, (count, 2))]).astype(dtype)
    probs = rng.dirichlet(np.ones(classes), count).astype(dtype)
    return Detections(boxes, rng.integers(0, classes, count), probs.max(axis=1, initial=0.0), probs)


def ragged(dtype=np.float64):
    cells = [
        [some(2, seed=1, dtype=dtype), some(0, dtype=dtype), some(3, seed=2, dtype=dtype)],
        [some(1, seed=3, dtype=dtype)],
    ]
    return DetectionLog.of(["a", "b"], cells), cells


def test_cells_come_back_as_they_went_in():
    log, cells = ragged()
    assert log.repetitions.tolist() == [3, 1]
    assert log.offsets.tolist() == [0, 2, 2, 5, 6]
    for image, row in enumerate(cells):
        for repetition, detections in enumerate(row):
            again = log.at(image, repetition)
            assert np.array_equal(again.boxes, detections.boxes)
            assert np.array_equal(again.probs, detections.probs)
            assert len(again) == len(detections)
    assert [name for name, _ in log] == ["a", "b"]
    assert log.cell_of.tolist() == [0, 0, 2, 2, 2, 3]


def test_where_names_image_repetition_and_position():
    log, _ = ragged()
    assert [log.where(row) for row in range(6)] == [
        ("a", 0, 0),
        ("a", 0, 1),
        ("a", 2, 0),
        ("a", 2, 1),
        ("a", 2, 2),
        ("b", 0, 0),
    ]


def test_take_and_first_keep_the_chosen_cells():
    log, cells = ragged()
    turned = log.take(["b", "a"])
    assert turned.images == ("b", "a")
    assert np.array_equal(turned.at(1, 2).boxes, cells[0][2].boxes)
    first = log.first(1)
    assert first.repetitions.tolist() == [1, 1]
    assert np.array_equal(first.at(1, 0).labels, cells[1][0].labels)
    assert log.take(["a", "b"]) is log
    with pytest.raises(UserError, match="image 'c' has no detections"):
        log.take(["a", "c"])
    with pytest.raises(UserError, match="image 'b' has 1 repetitions; 2 were asked for"):
        log.first(2)


def test_ranges_by_hand():
    assert ranges(np.array([5, 0, 9]), np.array([2, 0, 3])).tolist() == [5, 6, 9, 10, 11]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"boxes": [[0, 0, np.nan, 1]]}, "detection 0: its box holds NaN"),
        ({"boxes": [[0, 0, np.inf, 1]]}, "its box holds NaN or infinity"),
        ({"boxes": [[5, 0, 4, 1]]}, "x2 < x1"),
        ({"boxes": [[0, 5, 4, 1]]}, "y2 < y1"),
        ({"labels": [2]}, "outside its class row; 0 to 1"),
        ({"labels": [-1]}, "outside its class row"),
        ({"labels": [1.0]}, "labels must be whole numbers, not float64"),
        ({"scores": [np.nan]}, "its score is NaN"),
        ({"probs": [[np.inf, 0.0]]}, "its class row holds NaN"),
        ({"boxes": [[0, 0, 4]]}, "must be"),
        ({"scores": [0.5, 0.5]}, "must be"),
        ({"probs": [0.5, 0.5]}, "must be"),
    ],
)
def test_a_detection_no_profile_can_score_is_refused(change, sentence):
    good = {"boxes": [[0, 0, 4, 4]], "labels": [1], "scores": [0.5], "probs": [[0.2, 0.8]]}
    arrays = {name: np.array(value) for name, value in (good | change).items()}
    with pytest.raises(ValueError, match=sentence):
        Detections(**arrays)


def test_the_first_fault_is_told():
    boxes = np.array([[0, 0, 1, 1], [0, 0, 1, -1], [np.nan, 0, 1, 1.0]])
    fault = find_fault(boxes, np.zeros(3, dtype=int), np.ones(3), np.ones((3, 2)))
    assert fault.index == 1
    assert "y2 < y1" in fault.sentence


def test_a_box_without_area_and_negative_class_rows_are_allowed():
    flat = Detections(np.array([[1.0, 1, 1, 1]]), np.array([0]), np.array([0.9]), np.array([[-2.0, 1.0]]))
    assert len(flat) == 1


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"images": ("a", "a")}, "must differ"),
        ({"repetitions": np.array([3])}, "repetitions must hold"),
        ({"repetitions": np.array([4, 0])}, "at least 1"),
        ({"offsets": np.array([0, 2, 1, 5, 6])}, "offsets must rise"),
        ({"offsets": np.array([0, 2, 2, 5, 5])}, "offsets end at 5"),
        ({"semantics": "logits"}, "semantics must be one of"),
    ],
)
def test_a_log_that_does_not_add_up_is_refused(change, sentence):
    log, _ = ragged()
    with pytest.raises(ValueError, match=sentence):
        DetectionLog(**(vars(log) | change))


def test_class_rows_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match=r"one length, not \[2, 3\]"):
        DetectionLog.of(["a"], [[some(1, 2), some(1, 3)]])
    with pytest.raises(ValueError, match="2 images but detections of 1"):
        DetectionLog.of(["a", "b"], [[some(1)]])


def test_an_empty_log_is_a_log(tmp_path):
    log = DetectionLog.of([], [])
    assert (log.classes, len(log.labels), log.starts.tolist()) == (0, 0, [0])
    silent = DetectionLog.of(["a"], [[Detections.none(7)] * 2])
    assert silent.classes == 7
    for one in (log, silent):
        save(one, tmp_path / "log.npz")
        assert load(tmp_path / "log.npz").repetitions.tolist() == one.repetitions.tolist()


@pytest.mark.parametrize(("dtype", "stored"), [(np.float64, np.float64), (np.float32, np.float32)])
def test_the_file_keeps_every_bit_and_no_more_bytes_than_needed(tmp_path, dtype, stored):
    log, _ = ragged(dtype)
    save(log, tmp_path / "one.npz")
    again = load(tmp_path / "one.npz")
    assert again.boxes.dtype == stored
    for name in ("boxes", "labels", "scores", "probs", "offsets", "repetitions"):
        assert np.array_equal(getattr(again, name), getattr(log, name)), name
    assert (again.images, again.semantics) == (log.images, log.semantics)
    save(again, tmp_path / "two.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
@settings(max_examples=40, deadline=None)
def test_any_float_survives_the_file(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("log") / "log.npz"
    count = len(values)
    probs = np.array(values)[:, None]
    cell = Detections(np.zeros((count, 4)), np.zeros(count, dtype=int), np.array(values), probs)
    save(DetectionLog.of(["a"], [[cell]]), path)
    assert np.array_equal(load(path).scores.astype(np.float64), np.array(values))


def test_unreadable_files_are_told_in_one_line(tmp_path):
    path = tmp_path / "log.npz"
    with pytest.raises(UserError, match="no such file"):
        load(path)
    path.write_bytes(b"not a zip file")
    with pytest.raises(UserError, match="not a readable file of saved detections"):
        load(path)
    log, _ = ragged()
    save(log, path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UserError, match="not a readable file"):
        load(path)
    np.savez(path, boxes=np.zeros((1, 4)))
    with pytest.raises(UserError, match="not a readable file"):
        load(path)


def test_other_formats_and_later_versions_are_refused(tmp_path):
    path = tmp_path / "log.npz"
    for header, sentence in (
        ({"format": "x"}, "not a file of"),
        ({"format": "assay.detections", "version": 9}, "version 9"),
    ):
        np.savez(path, header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8))
        with pytest.raises(UserError, match=sentence):
            load(path)


def test_a_pickle_in_the_file_is_not_run(tmp_path):
    path = tmp_path / "log.npz"
    np.savez(path, header=np.array([print], dtype=object))
    with pytest.raises(UserError, match="not a readable file"):
        load(path)
