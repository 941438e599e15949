"""Other forms of detections, made into ours: what detectors return, and YOLO label text."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from app.detections import Detections
from app.errors import UserError


def from_detector(
    boxes: ArrayLike,
    labels: ArrayLike,
    scores: ArrayLike,
    probs: ArrayLike | None = None,
    *,
    classes: int | None = None,
) -> Detections:
    """Detections from the arrays that a torchvision-style detector returns, with its own scores.

    Args:
        boxes: (K, 4): xyxy in pixels.
        labels: (K,).
        scores: (K,).
        probs: (K, C): whole class rows, with any number of classes; None where the detector has none.
        classes: C; needed where `probs` is None. Rows then hold the score at the label, and what is left over
            is spread evenly: entropies of such rows say nothing beyond the score.

    Raises:
        UserError: When shapes do not fit or a detection cannot be scored.
    """
    names = np.asarray(labels, dtype=np.int64).reshape(-1)
    sure = _real(scores).reshape(-1)
    corners = _real(boxes).reshape(-1, 4)
    rows: NDArray[np.floating[Any]]
    if probs is None:
        if classes is None or classes < 1:
            raise UserError("without class rows the number of classes must be given")
        rows = _stand_in(names, sure, classes)
    else:
        rows = _real(probs)
        rows = (
            rows
            if rows.ndim == 2
            else rows.reshape(len(names), -1)
            if len(names)
            else np.zeros((0, classes or 0))
        )
    try:
        return Detections(corners, names, sure, rows)
    except ValueError as error:
        raise UserError(f"detector output: {error}") from error


def _real(values: ArrayLike) -> NDArray[np.floating[Any]]:
    array = np.asarray(values)
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


def _stand_in(
    labels: NDArray[np.int64], scores: NDArray[np.floating[Any]], classes: int
) -> NDArray[np.float64]:
    if len(labels) and (labels.min() < 0 or labels.max() >= classes):
        raise UserError(f"a label is outside the {classes} classes; 0 to {classes - 1} is allowed")
    rest = (1.0 - scores.astype(np.float64)) / max(classes - 1, 1)
    rows = np.repeat(rest[:, None], classes, axis=1)
    rows[np.arange(len(labels)), labels] = scores
    return rows


def from_yolo(text: str, width: int, height: int, *, source: str = "label file") -> Detections:
    """Boxes in pixels from YOLO label text: a line each of class, centre x, centre y, width, height [, score].

    Args:
        text: The lines; blank ones are passed over.
        width: Of the image, in pixels.
        height: Of the image, in pixels.
        source: What to call the text in messages.

    Returns:
        Detections with a score of 1 where none is given and one-hot class rows.

    Raises:
        UserError: Naming the line that is not so.
    """
    if width < 1 or height < 1:
        raise UserError(f"{source}: an image of {width} x {height} pixels has no boxes")
    rows: list[list[float]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        parts = line.split()
        try:
            values = [float(part) for part in parts]
        except ValueError as error:
            raise UserError(f"{source}, line {number}: {line.strip()!r} is not a line of numbers") from error
        if (
            len(values) not in (5, 6)
            or not np.isfinite(values).all()
            or not values[0].is_integer()
            or values[0] < 0
        ):
            raise UserError(
                f"{source}, line {number}: needs a whole class, centre x, centre y, width, height and at most a score"
            )
        if values[3] < 0 or values[4] < 0:
            raise UserError(f"{source}, line {number}: width and height must not be negative")
        rows.append([*values, 1.0][:6])
    table = np.array(rows, dtype=np.float64).reshape(-1, 6)
    scale = np.array([width, height], dtype=np.float64)
    centre, half = table[:, 1:3] * scale, table[:, 3:5] * scale / 2
    labels = table[:, 0].astype(np.int64)
    classes = int(labels.max()) + 1 if len(labels) else 0
    return Detections(np.hstack([centre - half, centre + half]), labels, table[:, 5], np.eye(classes)[labels])
