"""Greedy matching: the surest detection takes the best true box that is still free."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.diagnosis.detection.boxes import Boxes, Indices
from app.diagnosis.detection.overlap import Overlaps


def by_score(found: Boxes) -> Indices:
    """(D,): the detections, surest first; of equal scores the earlier one first."""
    return np.argsort(-found.score, kind="stable")


def match(truth: Boxes, found: Boxes, pairs: Overlaps, iou: float) -> Indices:
    """(D,): the true box that each detection takes, -1 for none.

    In the order of falling scores each detection takes, of the boxes of its class in its image that are no
    crowd and that no earlier one took, the one it overlaps most, if by `iou` at least.

    Args:
        truth: true boxes.
        found: detections.
        pairs: their overlaps from `iou` on, or from less.
        iou: smallest IoU of a match.
    """
    same = (truth.label[pairs.truth] == found.label[pairs.found]) & (pairs.iou >= iou)
    allowed = pairs.take(same & ~truth.crowd[pairs.truth])
    rank = np.empty(len(found), dtype=np.int64)
    rank[by_score(found)] = np.arange(len(found))
    order = np.lexsort((allowed.truth, -allowed.iou, rank[allowed.found]))
    taken = np.full(len(found), -1, dtype=np.int64)
    free = [True] * len(truth)
    last = -1
    for detection, box in zip(allowed.found[order].tolist(), allowed.truth[order].tolist(), strict=True):
        if detection != last and free[box]:
            taken[detection], free[box], last = box, False, detection
    return taken


def in_crowd(truth: Boxes, found: Boxes, pairs: Overlaps, taken: Indices, iou: float) -> NDArray[np.bool_]:
    """(D,): unmatched detections that lie to `iou` or more inside a crowd of their class: not counted."""
    inside = truth.crowd[pairs.truth] & (truth.label[pairs.truth] == found.label[pairs.found])
    ignored = np.zeros(len(found), dtype=np.bool_)
    ignored[pairs.found[inside & (pairs.iou >= iou)]] = True
    return ignored & (taken < 0)
