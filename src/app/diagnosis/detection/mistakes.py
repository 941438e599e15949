"""Mistakes of a detector, listed: its surest false positives and the largest boxes it did not find."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.diagnosis.detection.boxes import EvaluationSet
from app.diagnosis.detection.errors import KINDS, DetectionErrors


@dataclass(frozen=True)
class FalsePositive:
    """A detection that is wrong."""

    image: str
    """The image."""
    kind: str
    """Which error: `classification`, `localisation`, `both`, `duplicate` or `background`."""
    label: str
    """The class it claims."""
    score: float
    """How sure it is."""
    box: tuple[float, ...]
    """x1, y1, x2, y2."""
    iou: float
    """Overlap with the true box its error is about; 0 on the background."""
    true_label: str
    """The class of that box; empty on the background."""


@dataclass(frozen=True)
class FalseNegative:
    """A true box that no detection took."""

    image: str
    """The image."""
    label: str
    """Its class."""
    box: tuple[float, ...]
    """x1, y1, x2, y2."""
    missed: bool
    """Whether nothing came near it; else a localisation or classification error is about it."""


def false_positives(data: EvaluationSet, detail: DetectionErrors, shown: int) -> tuple[FalsePositive, ...]:
    """The wrong detections, surest first.

    Args:
        data: ground truth and detections.
        detail: what every detection is.
        shown: how many at most.
    """
    found = data.found
    rows = np.flatnonzero(~detail.of("match") & ~detail.of("ignored"))
    rows = rows[np.argsort(-found.score[rows], kind="stable")[:shown]]
    return tuple(
        FalsePositive(
            image=data.images[found.image[row]],
            kind=KINDS[detail.kind[row]],
            label=data.class_names[found.label[row]],
            score=float(found.score[row]),
            box=tuple(found.xyxy[row].tolist()),
            iou=float(detail.iou[row]),
            true_label=data.class_names[data.truth.label[detail.about[row]]]
            if detail.about[row] >= 0
            else "",
        )
        for row in rows.tolist()
    )


def false_negatives(data: EvaluationSet, detail: DetectionErrors, shown: int) -> tuple[FalseNegative, ...]:
    """The true boxes that no detection took: missed ones first, then largest first.

    Args:
        data: ground truth and detections.
        detail: what every true box is.
        shown: how many at most.
    """
    truth = data.truth
    rows = np.flatnonzero(detail.untaken)
    rows = rows[np.lexsort((-truth.area[rows], ~detail.missed[rows]))[:shown]]
    return tuple(
        FalseNegative(
            image=data.images[truth.image[row]],
            label=data.class_names[truth.label[row]],
            box=tuple(truth.xyxy[row].tolist()),
            missed=bool(detail.missed[row]),
        )
        for row in rows.tolist()
    )
