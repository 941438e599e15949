"""COCO's mean average precision, by hotcoco."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.diagnosis.detection.boxes import EvaluationSet
from app.errors import UserError

SIZES = ("small", "medium", "large")
"""Areas up to 32 * 32, up to 96 * 96 and from there on, in square pixels: those that the ground truth states
(`Boxes.size_area`), and of detections those of their boxes."""


@dataclass(frozen=True)
class CocoScores:
    """What the COCO challenge reports; NaN where there is nothing to find."""

    ap: float
    """Mean AP over IoU .50, .55, ... .95 and the classes that are there."""
    ap50: float
    """The same at IoU .50."""
    ap75: float
    """The same at IoU .75."""
    ap_small: float
    """The same as `ap` for small objects; NaN if boxes are not in pixels."""
    ap_medium: float
    """For medium ones."""
    ap_large: float
    """For large ones."""
    ar: float
    """Mean recall with `max_detections` an image and class."""
    ar_1: float
    """Mean recall with one detection an image and class."""
    ar_10: float
    """With ten, or `max_detections` if that is fewer."""
    per_class: NDArray[np.float64]
    """(K,): `ap` of each class; NaN for a class that is not there."""
    max_detections: int
    """The surest detections of an image and class that counted."""


def coco_scores(data: EvaluationSet, *, max_detections: int = 100) -> CocoScores:
    """COCO scores of a set (Lin et al., ECCV 2014), with 101-point interpolation.

    Args:
        data: ground truth and detections; crowds as in COCO.
        max_detections: the surest detections of an image and class that count.

    Raises:
        UserError: if hotcoco is not installed.
        ValueError: if `max_detections` is below 1.
    """
    if max_detections < 1:
        raise ValueError(f"max_detections must be at least 1, not {max_detections}")
    limits = sorted({min(limit, max_detections) for limit in (1, 10, max_detections)})
    classes = len(data.class_names)
    if not len(data.truth) or not data.images:
        precision, recall = np.full((10, 101, classes, 4, 3), -1.0), np.full((10, classes, 4, 3), -1.0)
        limits = [1, 10, max_detections]
    else:
        precision, recall = _evaluate(data, limits)
    sized = SIZES if data.pixels else ()
    by_size = {size: _mean(precision[:, :, :, 1 + SIZES.index(size), -1]) for size in sized}
    return CocoScores(
        ap=_mean(precision[..., 0, -1]),
        ap50=_mean(precision[0, ..., 0, -1]),
        ap75=_mean(precision[5, ..., 0, -1]),
        ap_small=by_size.get("small", np.nan),
        ap_medium=by_size.get("medium", np.nan),
        ap_large=by_size.get("large", np.nan),
        ar=_mean(recall[..., 0, -1]),
        ar_1=_mean(recall[..., 0, 0]),
        ar_10=_mean(recall[..., 0, min(1, len(limits) - 1)]),
        per_class=np.array([_mean(precision[:, :, k, 0, -1]) for k in range(classes)]),
        max_detections=max_detections,
    )


def _evaluate(data: EvaluationSet, limits: list[int]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Precision (10, 101, K, 4, limits) and recall (10, K, 4, limits); -1 where nothing is there."""
    try:
        import hotcoco  # noqa: PLC0415 -- only here, and a clear line where it is missing
    except ImportError as error:
        raise UserError("COCO's mAP needs hotcoco: pip install hotcoco") from error

    def xywh(corners: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.hstack([corners[:, :2], corners[:, 2:] - corners[:, :2]])

    truth, found = data.truth, data.found
    # Ids start at 1: 0 means "none" in COCO's matching.
    reference = hotcoco.COCO.from_arrays(
        [{"id": i + 1} for i in range(len(data.images))],
        [{"id": k + 1, "name": name} for k, name in enumerate(data.class_names)],
        truth.image + 1,
        truth.label + 1,
        xywh(truth.xyxy),
        area=truth.size_area,
        iscrowd=truth.crowd.astype(np.int64),
    )
    columns = (found.image + 1, xywh(found.xyxy), found.score, found.label + 1)
    results = reference.load_res(np.column_stack(columns))
    evaluation = hotcoco.COCOeval(reference, results, "bbox")
    evaluation.params.max_dets = limits
    evaluation.evaluate()
    evaluation.accumulate()
    outcome = evaluation.eval or {}
    return np.asarray(outcome["precision"]), np.asarray(outcome["recall"])


def _mean(values: NDArray[Any]) -> float:
    there = values[values > -1]
    return float(there.mean()) if there.size else np.nan
