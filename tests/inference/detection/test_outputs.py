"""Reading what a detector gives."""

import numpy as np
import pytest
import torch

from app.inference.detection.outputs import RowForm, detections_of, one_hot, results_of

FORM = RowForm(3, "sigmoid", "own")


def result(**changes):
    found = {
        "boxes": torch.tensor([[0.0, 0.0, 4.0, 4.0], [1.0, 1.0, 2.0, 3.0]]),
        "labels": torch.tensor([2, 1]),
        "scores": torch.tensor([0.75, 0.5]),
        "probs": torch.tensor([[0.0, 0.25, 0.75], [0.0, 0.5, 0.5]]),
    }
    return found | changes


def test_detections_hold_what_the_detector_gave():
    found = detections_of(result(), FORM)
    assert found.boxes.tolist() == [[0, 0, 4, 4], [1, 1, 2, 3]]
    assert found.labels.tolist() == [2, 1]
    assert found.probs[0].tolist() == [0, 0.25, 0.75]
    assert found.probs.dtype == np.float32


def test_no_detection_is_a_case():
    none = {name: value[:0] for name, value in result().items()}
    assert len(detections_of(none, FORM)) == 0
    assert detections_of(none, RowForm(3, "sigmoid", "one-hot")).probs.shape == (0, 3)


def test_one_hot_rows_hold_the_score_at_the_label():
    assert one_hot(np.array([2, 0]), np.array([0.5, 1.0]), 3).tolist() == [[0, 0, 0.5], [1, 0, 0]]
    found = detections_of(result(), RowForm(4, "sigmoid", "one-hot"))
    assert found.probs.tolist() == [[0, 0, 0.75, 0], [0, 0.5, 0, 0]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"boxes": torch.full((2, 4), float("nan"))}, "detection 0: its box holds NaN"),
        ({"boxes": torch.tensor([[0.0, 0, 1, 1], [5, 0, 1, 1]])}, "detection 1: its box has x2 < x1"),
        ({"labels": torch.tensor([2, 3])}, "detection 1: its label is outside its class row"),
        ({"scores": torch.tensor([0.5])}, "must be"),
        ({"probs": torch.zeros(2, 4)}, r"class rows must be \(K, 3\), not \(2, 4\)"),
        ({"probs": None}, "no class rows"),
    ],
)
def test_what_cannot_be_scored_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        detections_of(result(**changes), FORM)


def test_a_scripted_models_pair_is_understood():
    assert results_of(({}, [result()]), 1)[0]["labels"].tolist() == [2, 1]


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (torch.zeros(1), "not a Tensor"),
        ([result()] * 3, "each of 2 images, not 3 results"),
        ([result(), {"boxes": torch.zeros(0, 4)}], "labels is missing"),
        ([result(), 3], "boxes is missing"),
    ],
)
def test_other_outputs_are_refused(output, message):
    with pytest.raises(ValueError, match=message):
        results_of(output, 2)
