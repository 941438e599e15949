"""From what a detector gives back to detections with whole class rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from torch import Tensor

from app.detections import Detections
from app.inference.detection.rows import Semantics
from app.scoring.detection.rows import bad_row

Source = Literal["shim", "own", "one-hot"]


@dataclass(frozen=True)
class RowForm:
    """What the class rows of a detector are and where they come from."""

    classes: int
    """C, the length of a row; labels count from 0 to C - 1."""
    semantics: Semantics
    """One distribution with the background as class 0, or C yes-or-no probabilities."""
    source: Source
    """Kept by our postprocessing, given by the detector as `probs`, or made of label and score."""


def results_of(output: Any, images: int) -> list[Mapping[str, Tensor]]:
    """The results of each image.

    Args:
        output: what the detector gave: a list with a dict of `boxes`, `labels` and `scores` for each image, or a
            (losses, list) pair as a scripted torchvision model gives.
        images: how many went in.

    Raises:
        ValueError: it is something else.
    """
    if isinstance(output, tuple) and len(output) == 2:
        output = output[1]
    if not isinstance(output, Sequence) or len(output) != images:
        what = f"{len(output)} results" if isinstance(output, Sequence) else f"a {type(output).__name__}"
        raise ValueError(f"a detector must give a list with one dict for each of {images} images, not {what}")
    for each in output:
        missing = [name for name in ("boxes", "labels", "scores") if not _has_tensor(each, name)]
        if missing:
            raise ValueError(
                f"a detector's dict must hold tensors boxes, labels and scores; {missing[0]} is missing"
            )
    return list(output)


def detections_of(result: Mapping[str, Tensor], form: RowForm) -> Detections:
    """The detections of one image.

    Args:
        result: `boxes` (K, 4), `labels` (K,), `scores` (K,), and `probs` (K, C) unless rows are one-hot.
        form: of the class rows.

    Raises:
        ValueError: shapes that do not fit, numbers that are not finite, boxes with x2 < x1, a label outside its row,
            rows of the detector's own that are no probabilities.
    """
    boxes, labels, scores = (result[name].detach().cpu() for name in ("boxes", "labels", "scores"))
    label = labels.numpy().astype(np.int64)
    score = scores.float().numpy()
    if form.source == "one-hot":
        rows = one_hot(label, score, form.classes)
    elif not _has_tensor(result, "probs"):
        raise ValueError("the detector's dict has no class rows `probs`, which it had at first")
    else:
        rows = result["probs"].detach().cpu().float().numpy()
        if rows.ndim != 2 or rows.shape[1] != form.classes:
            raise ValueError(f"class rows must be (K, {form.classes}), not {rows.shape}")
    found = Detections(boxes.float().numpy(), label, score, rows)
    fault = None if form.source == "shim" else bad_row(rows, form.semantics)
    if fault is not None:
        raise ValueError(f"detection {fault[0]}: {fault[1]}")
    return found


def one_hot(labels: np.ndarray[Any, Any], scores: np.ndarray[Any, Any], classes: int) -> np.ndarray[Any, Any]:
    """(K, classes) rows with the score at the label and 0 elsewhere, to be read as yes-or-no probabilities."""
    rows = np.zeros((len(labels), classes), dtype=np.float32)
    inside = (labels >= 0) & (labels < classes)
    rows[np.flatnonzero(inside), labels[inside]] = scores[inside]
    return rows


def _has_tensor(result: Any, name: str) -> bool:
    return isinstance(result, Mapping) and isinstance(result.get(name), Tensor)
