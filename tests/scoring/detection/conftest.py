"""Small detections."""

import numpy as np
import pytest

from app.detections import DetectionLog, Detections


def detections(*objects):
    """Of objects (box, label) or (box, label, class row); C = 3 unless rows say otherwise."""
    rows = [item[2] if len(item) > 2 else row_for(item[1]) for item in objects]
    if not rows:
        return Detections.none(3)
    probs = np.array(rows, dtype=float)
    boxes = np.array([item[0] for item in objects], dtype=float)
    return Detections(boxes, np.array([item[1] for item in objects]), probs.max(axis=1), probs)


def row_for(label):
    """0.8 for the label and 0.1 for the two other classes."""
    return [0.8 if index == label else 0.1 for index in range(3)]


def log_of(*cells, semantics="softmax_background"):
    """One image, named `a`, of these repetitions; an integer repeats what stands before it."""
    whole = []
    for cell in cells:
        whole += [whole[-1]] * (cell - 1) if isinstance(cell, int) else [cell]
    return DetectionLog.of(["a"], [whole], semantics=semantics)


@pytest.fixture
def scene():
    return detections


@pytest.fixture
def one_image():
    return log_of
