"""Match, miss and ghost: the three sets of detections, original against mutant, in every cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from app.detections import DetectionLog
from app.scoring.detection.overlap import Indices, Reals, pair_blocks, paired_iou

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class DetectionSets:
    """The three sets over all cells of two logs, as rows of these logs, in the order of the cells."""

    match_original: Indices
    """(M,): matched rows of the original's log."""
    match_mutant: Indices
    """(M,): their partners in the mutant's log."""
    match_iou: Reals
    """(M,): IoU of each pair."""
    misses: Indices
    """(X,): rows of the original's log without a partner."""
    ghosts: Indices
    """(G,): rows of the mutant's log without a partner."""


def match_by_class(original: DetectionLog, mutant: DetectionLog, threshold: float) -> DetectionSets:
    """The sets of profile `paper`: only pairs of one class with IoU > `threshold` are admissible.

    Of all admissible pairings, one with the most matches, and among these with the largest sum of IoU
    (a maximum-weight assignment where each match counts more than any sum of IoU).
    """
    found: list[tuple[Indices, Indices, Reals]] = []
    for _, left, right in pair_blocks(np.diff(original.offsets), np.diff(mutant.offsets)):
        same = original.labels[left] == mutant.labels[right]
        left, right = left[same], right[same]  # noqa: PLW2901 - narrowed step by step
        iou = paired_iou(original.boxes[left], mutant.boxes[right])
        close = iou > threshold
        found.append((left[close], right[close], iou[close]))
    left, right, iou = _joined(found)
    chosen = (np.bincount(left, minlength=1)[left] == 1) & (np.bincount(right, minlength=1)[right] == 1)
    contested = np.flatnonzero(~chosen)
    if len(contested):
        cells = original.cell_of[left[contested]]
        for pairs in np.split(contested, np.flatnonzero(np.diff(cells)) + 1):
            chosen[pairs] = _assign(left[pairs], right[pairs], iou[pairs])
    return _sets(original, mutant, left[chosen], right[chosen], iou[chosen])


def _assign(left: Indices, right: Indices, iou: Reals) -> Flags:
    """Which of some admissible pairs form the best assignment."""
    rows, row = np.unique(left, return_inverse=True)
    columns, column = np.unique(right, return_inverse=True)
    weight = np.zeros((len(rows), len(columns)))
    weight[row, column] = iou + min(weight.shape) + 1.0
    best = np.zeros(weight.shape, dtype=np.bool_)
    best[linear_sum_assignment(weight, maximize=True)] = True
    chosen: Flags = best[row, column]
    return chosen


def match_blind(original: DetectionLog, mutant: DetectionLog, threshold: float) -> DetectionSets:
    """The sets of profile `deepluq`: Hungarian on 1 - IoU over all pairs, whatever their class.

    Afterwards a pair counts only if its IoU is over `threshold` and its classes agree.
    """
    first, second = np.diff(original.offsets), np.diff(mutant.offsets)
    found: list[tuple[Indices, Indices, Reals]] = []
    for cells, left, right in pair_blocks(first, second):
        iou = paired_iou(original.boxes[left], mutant.boxes[right])
        cost, sizes = 1.0 - iou, first[cells] * second[cells]
        assigned: list[Indices] = []
        for cell, size, end in zip(cells, sizes, np.cumsum(sizes), strict=True):
            if size:
                rows, columns = linear_sum_assignment(cost[end - size : end].reshape(first[cell], -1))
                assigned.append(end - size + rows * second[cell] + columns)
        pairs = np.concatenate(assigned)
        kept = pairs[(iou[pairs] > threshold) & (original.labels[left[pairs]] == mutant.labels[right[pairs]])]
        found.append((left[kept], right[kept], iou[kept]))
    return _sets(original, mutant, *_joined(found))


def _joined(found: list[tuple[Indices, Indices, Reals]]) -> tuple[Indices, Indices, Reals]:
    """Rows, rows and IoU of the pairs of all blocks."""
    if not found:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)
    left, right, iou = zip(*found, strict=True)
    return np.concatenate(left), np.concatenate(right), np.concatenate(iou)


def _sets(
    original: DetectionLog, mutant: DetectionLog, left: Indices, right: Indices, iou: Reals
) -> DetectionSets:
    missed = np.ones(len(original.labels), dtype=np.bool_)
    missed[left] = False
    new = np.ones(len(mutant.labels), dtype=np.bool_)
    new[right] = False
    return DetectionSets(left, right, iou, np.flatnonzero(missed), np.flatnonzero(new))
