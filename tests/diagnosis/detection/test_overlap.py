import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.diagnosis.detection import Boxes, overlap
from app.diagnosis.detection.overlap import overlaps

from .scenes import random_set


def plain_iou(a, b):
    """IoU of two boxes, one side at a time."""
    width = max(0.0, min(a[2], b[2]) - max(a[0], b[0]))
    height = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
    both = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1])
    return width * height / (both - width * height)


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_equal_to_a_plain_loop(seed, small_blocks):
    data = random_set(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(overlap, "PAIRS", 10 if small_blocks else 2_000_000)
        found = overlaps(data.truth, data.found, len(data.images), 0.1)
    expected = {}
    for row, (image, box) in enumerate(zip(data.found.image, data.found.xyxy.tolist(), strict=True)):
        for other in np.flatnonzero(data.truth.image == image).tolist():
            iou = plain_iou(box, data.truth.xyxy[other].tolist())
            if iou >= 0.1:
                expected[row, other] = pytest.approx(iou)
    pairs = zip(found.found.tolist(), found.truth.tolist(), strict=True)
    assert dict(zip(pairs, found.iou.tolist(), strict=True)) == expected


def test_a_crowd_is_measured_by_the_detection():
    truth = Boxes.of([0], [0], [[0, 0, 100, 100]], crowd=[True])
    found = Boxes.of([0, 0], [0, 0], [[0, 0, 10, 10], [95, 0, 105, 10]], [0.5, 0.5])
    assert overlaps(truth, found, 1, 0.1).iou.tolist() == [1.0, 0.5]


def test_nothing_and_boxes_without_area():
    none = Boxes.of([], [], [])
    flat = Boxes.of([0], [0], [[5, 5, 5, 9]], [0.5])
    for truth, found in ((none, none), (flat, none), (none, flat), (flat, flat)):
        assert overlaps(truth, found, 1, 0.1).iou.size == 0


@pytest.mark.parametrize("box", [[3, 0, 1, 1], [0, np.nan, 1, 1], [0, 0, np.inf, 1]])
def test_bad_boxes_are_refused(box):
    with pytest.raises(ValueError, match="box 1 is"):
        Boxes.of([0, 0], [0, 0], [[0, 0, 1, 1], box])
