"""Blocks of detections on disk, and the logs they make."""

import numpy as np
import pytest

from app.detections import Detections
from app.inference.detection.blocks import DetectionBlock, DetectionStore, repeated

NAMES = ("a", "b", "c")
TREPS = (1, 2)


def found(*marks):
    """A detection a mark, its score and first coordinate being the mark."""
    marks = np.array(marks, dtype=np.float32)
    boxes = np.stack([marks, marks, marks + 1, marks + 1], axis=1).reshape(-1, 4)
    return Detections(
        boxes, np.ones(len(marks), int), marks, np.stack([1 - marks, marks], axis=1).reshape(-1, 2)
    )


def passes(cases):
    """Original, a mutant of one repetition, a mutant of two: their marks tell pass and image."""
    return [
        [found(*(0.01 * row + 0.1 * case + 0.001 * k for k in range((case + row) % 3))) for case in cases]
        for row in range(4)
    ]


@pytest.fixture
def store(tmp_path):
    store = DetectionStore(tmp_path / "blocks")
    for batch, cases in enumerate(([0, 1], [2])):
        about = {"reasons": {"k": "why"} if batch else {}, "unchanged": ("u",), "notes": (f"n{batch}", "n")}
        store.write(DetectionBlock.of(0, batch, np.array(cases), passes(cases), **about))
    return store


def test_a_block_comes_back_as_it_was(store):
    block, wanted = store.read(0, 0), DetectionBlock.of(0, 0, np.array([0, 1]), passes([0, 1]))
    for name in ("cases", "counts", "boxes", "labels", "scores", "probs"):
        assert np.array_equal(getattr(block, name), getattr(wanted, name)), name
    assert (dict(block.reasons), block.unchanged, block.notes) == ({}, ("u",), ("n0", "n"))


def test_logs_are_in_the_order_image_repetition(store):
    group = store.gather(0, 2, NAMES, TREPS, "sigmoid")
    everything = passes([0, 1, 2])
    for log, rows in zip(group.logs, ([0], [1], [2, 3]), strict=True):
        assert log.images == NAMES
        assert log.repetitions.tolist() == [len(rows)] * 3
        assert log.semantics == "sigmoid"
        for image in range(3):
            for repetition, row in enumerate(rows):
                assert np.array_equal(log.at(image, repetition).scores, everything[row][image].scores)
                assert np.array_equal(log.at(image, repetition).boxes, everything[row][image].boxes)
    assert (dict(group.reasons), group.unchanged, group.notes) == ({"k": "why"}, ("u",), ("n0", "n", "n1"))


def test_damaged_and_absent_blocks_are_missing(store):
    path = store.path(0, 1)
    content = bytearray(path.read_bytes())
    content[-20] ^= 1
    path.write_bytes(content)
    assert store.missing(0, 3) == [1, 2]
    assert store.read(0, 1) is None
    with pytest.raises(RuntimeError, match=r"group 0 lacks batches \[1\]"):
        store.gather(0, 2, NAMES, TREPS, "sigmoid")
    assert not [each for each in path.parent.iterdir() if each.suffix == ".part"]


def test_other_images_than_the_tests_are_refused(store):
    with pytest.raises(RuntimeError, match="each test image once"):
        store.gather(0, 2, (*NAMES, "d"), TREPS, "sigmoid")


def test_nothing_found_at_all_makes_empty_logs(tmp_path):
    store = DetectionStore(tmp_path)
    store.write(DetectionBlock.of(0, 0, np.arange(3), [[Detections.none(4)] * 3] * 4))
    logs = store.gather(0, 1, NAMES, TREPS, "sigmoid").logs
    assert [len(log.labels) for log in logs] == [0, 0, 0]
    assert logs[2].classes == 4


def test_the_original_is_read_several_times(store):
    original = store.gather(0, 2, NAMES, TREPS, "sigmoid").logs[0]
    many = repeated(original, 3)
    assert many.repetitions.tolist() == [3, 3, 3]
    for image in range(3):
        for repetition in range(3):
            assert np.array_equal(many.at(image, repetition).probs, original.at(image, 0).probs)
    with pytest.raises(ValueError, match="one repetition"):
        repeated(many, 2)
