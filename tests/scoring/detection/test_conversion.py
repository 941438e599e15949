import numpy as np
import pytest

from app.errors import UserError
from app.scoring.detection import from_detector, from_yolo


def test_whole_rows_of_any_number_of_classes_and_real_scores():
    rows = np.array([[0.1] * 90 + [0.9]], dtype=np.float32)
    found = from_detector(
        np.array([[1, 2, 3, 4]], dtype=np.float32), [90], np.array([0.87], dtype=np.float32), rows
    )
    assert found.probs.shape == (1, 91)
    assert found.scores[0] == np.float32(0.87)
    assert found.boxes.dtype == np.float32


def test_without_rows_the_score_stands_at_the_label():
    found = from_detector([[0, 0, 1, 1], [0, 0, 2, 2]], [2, 0], [0.7, 1.0], classes=4)
    assert found.probs == pytest.approx(np.array([[0.1, 0.1, 0.7, 0.1], [1, 0, 0, 0]]))
    with pytest.raises(UserError, match="number of classes must be given"):
        from_detector([[0, 0, 1, 1]], [2], [0.7])
    with pytest.raises(UserError, match="outside the 2 classes; 0 to 1"):
        from_detector([[0, 0, 1, 1]], [2], [0.7], classes=2)


def test_no_detections_and_bad_ones():
    assert len(from_detector([], [], [], classes=5)) == 0
    assert from_detector(np.zeros((0, 4)), [], [], np.zeros((0, 7))).probs.shape == (0, 7)
    with pytest.raises(UserError, match="detector output: detection 0: its box has x2 < x1"):
        from_detector([[5, 0, 1, 1]], [0], [0.7], [[1.0]])


def test_yolo_lines_become_pixels_of_the_real_image():
    found = from_yolo("2 0.5 0.5 0.5 0.25\n\n0 0.25 0.75 0.1 0.1 0.6\n", 640, 480)
    assert found.boxes == pytest.approx(np.array([[160, 180, 480, 300], [128, 336, 192, 384]]))
    assert found.labels.tolist() == [2, 0]
    assert found.scores.tolist() == [1.0, 0.6]
    assert found.probs.tolist() == [[0, 0, 1], [1, 0, 0]]
    assert len(from_yolo("", 10, 10)) == 0


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1 0.5 0.5 0.5", "line 1: needs a whole class"),
        ("0 0.5 0.5 0.5 0.5\n1.5 0.5 0.5 0.5 0.5", "line 2: needs a whole class"),
        ("-1 0.5 0.5 0.5 0.5", "line 1: needs a whole class"),
        ("1 0.5 nan 0.5 0.5", "line 1: needs a whole class"),
        ("cat 0.5 0.5 0.5 0.5", "line 1: 'cat 0.5 0.5 0.5 0.5' is not a line of numbers"),
        ("1 0.5 0.5 -0.5 0.5", "line 1: width and height must not be negative"),
    ],
)
def test_yolo_lines_out_of_form_are_named(text, sentence):
    with pytest.raises(UserError, match=f"truth.txt, {sentence}"):
        from_yolo(text, 10, 10, source="truth.txt")
    with pytest.raises(UserError, match="0 x 10 pixels"):
        from_yolo("", 0, 10)
