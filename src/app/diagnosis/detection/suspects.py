"""Suspected errors in the ground truth: where a sure detector and the labels disagree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.diagnosis.detection.boxes import EvaluationSet
from app.diagnosis.detection.errors import DetectionErrors

SHOWN = 100
"""Suspects listed of each kind."""
REASONS = {
    "background": "missing box",
    "classification": "wrong class",
    "localisation": "loose box",
}
"""What may be wrong with the ground truth where the detector makes this error surely."""


@dataclass(frozen=True)
class LabelSuspect:
    """A place where the ground truth may be wrong."""

    reason: str
    """`missing box`, `wrong class`, `loose box` or `spurious box` (nothing found anything near it)."""
    image: str
    """The image."""
    box: tuple[float, float, float, float]
    """Where: the detection, or the true box if it is spurious."""
    label: str
    """The class that the ground truth has there; empty for a missing box."""
    suggested: str
    """The class that the detector sees there; empty for a spurious box."""
    score: float
    """How sure the detector is; 0 for a spurious box."""
    threshold: float
    """How sure it is on average where it is right about this class."""


def label_suspects(
    data: EvaluationSet, errors: DetectionErrors, *, shown: int = SHOWN
) -> tuple[LabelSuspect, ...]:
    """Suspects, surest first within each reason.

    As in confident learning, sure means as sure as the detector is on average where it is right about the class;
    a class it is never right about has no suspects. A true box is spurious if nothing overlaps it though the
    detector finds most boxes of its class.

    Args:
        data: ground truth and detections.
        errors: what every detection is.
        shown: suspects of each reason.
    """
    truth, found, classes = data.truth, data.found, len(data.class_names)
    right = errors.of("match")
    hits = np.bincount(found.label[right], minlength=classes)
    sums = np.bincount(found.label[right], found.score[right], minlength=classes)
    threshold = np.where(hits > 0, sums / np.maximum(hits, 1), np.inf)
    suspects = []
    for kind, reason in REASONS.items():
        chosen = errors.of(kind) & (found.score >= threshold[found.label])
        if kind != "background":
            chosen[chosen] = errors.untaken[errors.about[chosen]]
        rows = np.flatnonzero(chosen)
        for row in rows[np.argsort(-found.score[rows], kind="stable")[:shown]].tolist():
            about, label = int(errors.about[row]), int(found.label[row])
            suspects.append(
                LabelSuspect(
                    reason=reason,
                    image=data.images[found.image[row]],
                    box=_corners(found.xyxy[row]),
                    label=data.class_names[truth.label[about]] if about >= 0 else "",
                    suggested=data.class_names[label],
                    score=float(found.score[row]),
                    threshold=float(threshold[label]),
                )
            )
    positives = np.bincount(truth.label[~truth.crowd], minlength=classes)
    usual = hits >= 0.8 * np.maximum(positives, 1)
    touched = np.zeros(len(truth), dtype=np.bool_)
    touched[errors.about[errors.about >= 0]] = True
    spurious = np.flatnonzero(errors.missed & ~touched & usual[truth.label])
    for row in spurious[np.argsort(-truth.area[spurious], kind="stable")[:shown]].tolist():
        label = int(truth.label[row])
        name, where = data.class_names[label], _corners(truth.xyxy[row])
        image = data.images[truth.image[row]]
        suspects.append(LabelSuspect("spurious box", image, where, name, "", 0.0, float(threshold[label])))
    return tuple(suspects)


def _corners(box: np.ndarray[tuple[int], np.dtype[np.float64]]) -> tuple[float, float, float, float]:
    x1, y1, x2, y2 = box.tolist()
    return x1, y1, x2, y2
