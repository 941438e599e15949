"""How far a classifier's confidence is from its accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Confidences = NDArray[np.float32] | NDArray[np.float64]

CONFIDENT = 0.90
"""From this confidence on, a wrong prediction is a confident error."""


@dataclass(frozen=True)
class Reliability:
    """Predictions binned by confidence; the leading axes are those of the predictions."""

    counts: NDArray[np.float64]
    """(..., bins): predictions in each bin."""
    confidence: NDArray[np.float64]
    """(..., bins): mean confidence of each bin; 0 where the bin is empty."""
    accuracy: NDArray[np.float64]
    """(..., bins): share of right predictions of each bin; 0 where the bin is empty."""

    @cached_property
    def gaps(self) -> NDArray[np.float64]:
        """(..., bins): |accuracy - confidence| of each bin; 0 where the bin is empty."""
        return np.abs(self.accuracy - self.confidence)

    @property
    def ece(self) -> NDArray[np.float64]:
        """(...): expected calibration error, the mean gap weighted by counts; NaN without predictions.

        Naeini, Cooper and Hauskrecht (AAAI 2015), equation 3.
        """
        total = self.counts.sum(axis=-1)
        weighted = (self.gaps * self.counts).sum(axis=-1)
        ece: NDArray[np.float64] = np.divide(
            weighted, total, out=np.full(total.shape, np.nan), where=total > 0
        )
        return ece

    @property
    def mce(self) -> NDArray[np.float64]:
        """(...): maximum calibration error, the largest gap; NaN without predictions."""
        return np.where(self.counts.sum(axis=-1) > 0, self.gaps.max(axis=-1), np.nan)


def reliability(confidence: Confidences, right: NDArray[np.bool_], bins: int = 10) -> Reliability:
    """Predictions in bins of equal width: each holds its lower edge, and the last one both.

    Args:
        confidence: (..., N) in [0, 1]. The edges are compared in this array's own precision, so that a
            confidence of 0.3 lies in the bin that starts at 0.3 in float32 as in float64.
        right: (..., N), whether each prediction is right.
        bins: how many.
    """
    batch, cases = confidence.shape[:-1], confidence.shape[-1]
    rows = int(np.prod(batch))
    edges = np.linspace(0.0, 1.0, bins + 1)[1:-1].astype(confidence.dtype)
    cell = np.searchsorted(edges, confidence.reshape(rows, cases), side="right")
    cell += np.arange(rows)[:, None] * bins
    counts, sure, hit = (
        np.bincount(cell.ravel(), weights, minlength=rows * bins).reshape(*batch, bins).astype(np.float64)
        for weights in (None, confidence.ravel(), right.ravel())
    )
    filled = np.maximum(counts, 1)
    return Reliability(counts, sure / filled, hit / filled)


def confident_error_share(confidence: Confidences, right: NDArray[np.bool_]) -> float:
    """Share of the wrong predictions, (N,), whose confidence is at least 0.90; 0 if none is wrong."""
    wrong = confidence[~right]
    return float((wrong >= CONFIDENT).mean()) if wrong.size else 0.0


def classwise_cells(rows: NDArray[np.float64], bins: int = 10) -> NDArray[np.int64]:
    """(N, K): the bin of every class's probability, numbered through the classes, `class * bins + bin`."""
    edges = np.linspace(0.0, 1.0, bins + 1)[1:-1]
    cells: NDArray[np.int64] = np.searchsorted(edges, rows, side="right")
    return cells + np.arange(rows.shape[1]) * bins


def classwise_ece(rows: NDArray[np.float64], labels: NDArray[np.integer], bins: int = 10) -> float:
    """Mean over the classes of the ECE of each class's own probability; NaN without test cases.

    Kull et al. (NeurIPS 2019), equation 3.
    """
    cases, classes = rows.shape
    if not cases:
        return np.nan
    gaps = rows - (np.arange(classes) == np.asarray(labels)[:, None])
    cells = classwise_cells(rows, bins)
    return float(np.abs(np.bincount(cells.ravel(), gaps.ravel())).sum() / (cases * classes))


def adaptive_ece(confidence: Confidences, right: NDArray[np.bool_], bins: int = 10) -> float:
    """ECE over bins that hold equally many test cases each; NaN without test cases.

    Nguyen and O'Connor (EMNLP 2015), section 3.2.
    """
    cases = confidence.size
    if not cases:
        return np.nan
    order = np.argsort(confidence, kind="stable")
    gaps = np.asarray(confidence, dtype=np.float64)[order] - right[order]
    cells = np.arange(cases) * bins // cases
    return float(np.abs(np.bincount(cells, gaps)).sum() / cases)
