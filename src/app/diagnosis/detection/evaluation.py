"""Evaluation of a detector from its detections: how good it is, what it gets wrong, and where to look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.diagnosis import calibration
from app.diagnosis.confidence_gap import signed_gap
from app.diagnosis.detection.average_precision import PrecisionRecall, RankedDetections
from app.diagnosis.detection.boxes import EvaluationSet
from app.diagnosis.detection.coco import CocoScores, coco_scores
from app.diagnosis.detection.errors import BACKGROUND, DetectionErrors, detection_errors
from app.diagnosis.detection.matching import by_score, in_crowd, match
from app.diagnosis.detection.mistakes import (
    FalseNegative,
    FalsePositive,
    false_negatives,
    false_positives,
)
from app.diagnosis.detection.overlap import overlaps
from app.diagnosis.detection.suspects import LabelSuspect, label_suspects
from app.diagnosis.headline import Measured, proportion
from app.diagnosis.metrics import Interval
from app.errors import UserError

SHOWN = 100
"""False positives and missed boxes that are listed."""

MOST_RESAMPLES = 100_000
"""Of a bootstrap: more is a slip of the finger, and takes hours."""


@dataclass(frozen=True)
class ClassScores:
    """What the detector does on one class."""

    name: str
    """The class."""
    truth: int
    """True boxes."""
    detections: int
    """Detections of it, whatever their score."""
    ap: float
    """Average precision at the IoU; NaN (N/A) if the class is not there, 0 if it is never found."""
    coco_ap: float
    """COCO's AP over IoU .50 to .95; NaN if the class is not there or COCO was not asked for."""
    precision: Measured
    """Share of its detections from the operating score on that are right."""
    recall: Measured
    """Share of its boxes that they found."""


@dataclass(frozen=True)
class DetectionEvaluation:
    """The evaluation of one detector on N images."""

    iou: float
    """Smallest IoU of a match."""
    images: int
    """N."""
    truth: int
    """True boxes, without crowds."""
    detections: int
    """Detections, without those in crowds."""
    mean_ap: Measured
    """Mean AP at this IoU over the classes that are there, with its interval over images."""
    coco: CocoScores | None
    """COCO's scores; None if not asked for."""
    classes: tuple[ClassScores, ...]
    """Scores of each class."""
    operating_score: float
    """The score from which on F1 over all classes is best; NaN without a match."""
    precision: Measured
    """Share of the detections from that score on that are right."""
    recall: Measured
    """Share of the true boxes that they found."""
    f1: float
    """Harmonic mean of both at that score; NaN without a match."""
    errors: Mapping[str, int]
    """Errors of each kind over all detections."""
    operating_errors: Mapping[str, int]
    """Errors of each kind from the operating score on; a box is missed if nothing from there on comes near."""
    reliability: calibration.Reliability
    """Detections by score, and how many of them are right."""
    signed_gap: Interval
    """95 % interval of mean score minus the share that is right."""
    false_positives: tuple[FalsePositive, ...]
    """The surest wrong detections."""
    false_negatives: tuple[FalseNegative, ...]
    """The largest true boxes that were not found, missed ones first."""
    suspects: tuple[LabelSuspect, ...]
    """Suspected errors in the ground truth."""
    ranked: RankedDetections
    """For precision-recall curves: `ranked.curve(class)`."""
    detail: DetectionErrors
    """What every detection and every true box is, in the order of the set."""

    @property
    def ece(self) -> float:
        """Expected calibration error of the scores."""
        return float(self.reliability.ece)

    def curve(self, k: int) -> PrecisionRecall:
        """Precision and recall of class k, which must be there."""
        return self.ranked.curve(k)


def evaluate(
    data: EvaluationSet,
    *,
    iou: float = 0.5,
    coco: bool = True,
    max_detections: int = 100,
    resamples: int = 200,
    shown: int = SHOWN,
    seed: int = 0,
) -> DetectionEvaluation:
    """The evaluation of a detector.

    Args:
        data: ground truth and detections.
        iou: smallest IoU of a match, above 0.1 and at most 1.
        coco: also measure COCO's scores, which needs hotcoco.
        max_detections: the surest detections of an image and class that count there.
        resamples: bootstrap samples for the interval of the mean AP.
        shown: false positives, missed boxes and suspects of a kind that are listed.
        seed: of the bootstrap.

    Raises:
        UserError: if an option is out of range, or scores are not in [0, 1].
    """
    if not BACKGROUND < iou <= 1:
        raise UserError(f"iou must be above {BACKGROUND} and at most 1, not {iou}")
    if resamples > MOST_RESAMPLES:
        raise UserError(f"resamples must be at most {MOST_RESAMPLES:,}, not {resamples}")
    if max_detections < 1 or resamples < 1 or shown < 0:
        raise UserError(
            f"max_detections and resamples must be at least 1 and shown at least 0, not {max_detections}, "
            f"{resamples}, {shown}"
        )
    truth, found = data.truth, data.found
    if len(found) and not 0 <= float(found.score.min()) <= float(found.score.max()) <= 1:
        raise UserError(
            f"scores of detections must be in [0, 1], not {found.score.min():.4g}..{found.score.max():.4g}"
        )
    pairs = overlaps(truth, found, len(data.images), BACKGROUND)
    taken = match(truth, found, pairs, iou)
    ignored = in_crowd(truth, found, pairs, taken, iou)
    detail = detection_errors(truth, found, pairs, taken=taken, ignored=ignored, iou=iou)
    ranked = _ranked(data, taken, ignored)
    counted = ~ignored
    score, hit = found.score[counted], taken[counted] >= 0
    operating = _operating_score(score, hit, int(ranked.positives.sum()))
    sure = counted & (found.score >= operating) if np.isfinite(operating) else np.zeros_like(counted)
    at_operating = detection_errors(
        truth,
        found,
        pairs.take(sure[pairs.found]),
        taken=np.where(sure, taken, -1),
        ignored=ignored,
        iou=iou,
    )
    challenge = coco_scores(data, max_detections=max_detections) if coco else None
    areas, rng = ranked.average_precision(), np.random.default_rng(seed)
    there = ranked.positives > 0
    ends = ranked.interval(rng, resamples)
    right, total = int((sure & (taken >= 0)).sum()), int(ranked.positives.sum())
    precision, recall = proportion(right, int(sure.sum())), proportion(right, total)
    return DetectionEvaluation(
        iou=iou,
        images=len(data.images),
        truth=total,
        detections=int(counted.sum()),
        mean_ap=Measured(
            float(areas[there].mean()) if there.any() else np.nan, ends.low, ends.high, "bootstrap"
        ),
        coco=challenge,
        classes=_classes(data, ranked, areas, challenge=challenge, sure=sure, taken=taken),
        operating_score=operating,
        precision=precision,
        recall=recall,
        f1=2 * right / (int(sure.sum()) + total) if right else np.nan,
        errors=detail.counts(),
        operating_errors=at_operating.counts(sure),
        reliability=calibration.reliability(score, hit),
        signed_gap=signed_gap(score, hit),
        false_positives=false_positives(data, detail, shown),
        false_negatives=false_negatives(data, detail, shown),
        suspects=label_suspects(data, detail, shown=shown),
        ranked=ranked,
        detail=detail,
    )


def _ranked(data: EvaluationSet, taken: NDArray[np.int64], ignored: NDArray[np.bool_]) -> RankedDetections:
    order = by_score(data.found)
    order = order[~ignored[order]]
    truth, classes, images = data.truth.take(~data.truth.crowd), len(data.class_names), len(data.images)
    each = np.bincount(truth.image * classes + truth.label, minlength=images * classes)
    positives = each.reshape(images, classes)
    return RankedDetections(
        data.found.label[order], taken[order] >= 0, data.found.image[order], positives.sum(axis=0), positives
    )


def _operating_score(score: NDArray[np.float64], hit: NDArray[np.bool_], positives: int) -> float:
    """The highest score with the best F1 of all detections from it on."""
    if not hit.any():
        return np.nan
    order = np.argsort(-score, kind="stable")
    f1 = 2 * np.cumsum(hit[order]) / (np.arange(1, hit.size + 1) + positives)
    # Detections of equal score stand or fall together.
    last = np.append(score[order][1:] != score[order][:-1], True)
    return float(score[order][np.argmax(np.where(last, f1, -1.0))])


def _classes(
    data: EvaluationSet,
    ranked: RankedDetections,
    areas: NDArray[np.float64],
    *,
    challenge: CocoScores | None,
    sure: NDArray[np.bool_],
    taken: NDArray[np.int64],
) -> tuple[ClassScores, ...]:
    classes = len(data.class_names)
    detections = np.bincount(ranked.label, minlength=classes)
    claimed = np.bincount(data.found.label[sure], minlength=classes)
    right = np.bincount(data.found.label[sure & (taken >= 0)], minlength=classes)
    return tuple(
        ClassScores(
            name=name,
            truth=int(ranked.positives[k]),
            detections=int(detections[k]),
            ap=float(areas[k]),
            coco_ap=np.nan if challenge is None else float(challenge.per_class[k]),
            precision=proportion(int(right[k]), int(claimed[k])),
            recall=proportion(int(right[k]), int(ranked.positives[k])),
        )
        for k, name in enumerate(data.class_names)
    )
