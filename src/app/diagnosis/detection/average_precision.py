"""Average precision at one IoU, with all-point interpolation, and its interval by resampling images."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.diagnosis.detection.boxes import Indices, Reals
from app.stats import Interval
from app.stats.bootstrap import case_weights, percentile

DRAWN = 100_000
"""About as many weights are held at a time."""


@dataclass(frozen=True)
class RankedDetections:
    """The counted detections, surest first, and how much there was to find."""

    label: Indices
    """(D,): class of each."""
    hit: NDArray[np.bool_]
    """(D,): whether it took a true box."""
    image: Indices
    """(D,): its image."""
    positives: Indices
    """(K,): true boxes of each class."""
    positives_of: NDArray[np.int64]
    """(N, K): true boxes of each class in each image."""

    def average_precision(self) -> Reals:
        """(K,): AP of each class; 0 for a class that is never found, NaN for one that is not there."""
        found = np.full(len(self.positives), np.nan)
        for k, hits in self._of_classes():
            curve = precision_recall(hits, int(self.positives[k]))
            found[k] = curve.area
        return found

    def curve(self, k: int) -> PrecisionRecall:
        """Precision and recall of class k, which must be there."""
        return precision_recall(self.hit[self.label == k], int(self.positives[k]))

    def interval(self, rng: np.random.Generator, resamples: int = 200, level: float = 0.95) -> Interval:
        """Percentile bootstrap interval of the mean AP over images.

        Matches are made within images, so a resampled image brings its matches along. A sample that misses
        all images of a class leaves the class out.
        """
        images, classes = self.positives_of.shape
        if not images or not self.positives.any():
            return Interval.unknown(level)
        block = max(1, DRAWN * 10 // max(1, len(self.label)))
        means: list[Reals] = []
        of_class = [np.flatnonzero(self.label == k) for k in range(classes)]
        for start in range(0, resamples, block):
            size = min(block, resamples - start)
            counts = case_weights(images, size, rng)
            positives = counts @ self.positives_of
            areas = np.full((size, classes), np.nan)
            for k in np.flatnonzero(self.positives).tolist():
                weights = counts[:, self.image[of_class[k]]].astype(np.float64)
                areas[:, k] = _weighted_area(weights, self.hit[of_class[k]], positives[:, k])
            there = np.isfinite(areas)
            means.append(np.where(there, areas, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1))
        return percentile(np.concatenate(means), level)

    def _of_classes(self) -> list[tuple[int, NDArray[np.bool_]]]:
        order = np.argsort(self.label, kind="stable")
        ends = np.cumsum(np.bincount(self.label, minlength=len(self.positives)))
        groups = np.split(self.hit[order], ends[:-1])
        return [(k, groups[k]) for k in np.flatnonzero(self.positives).tolist()]


@dataclass(frozen=True)
class PrecisionRecall:
    """Precision and recall as more and more detections are taken, surest first."""

    precision: Reals
    """(D,): share of the first detections that are right."""
    recall: Reals
    """(D,): share of the true boxes that they found."""

    @property
    def area(self) -> float:
        """Area under the curve, where precision at a recall is the best at that recall or beyond.

        Everingham et al. (IJCV 88, 2010), as their challenge measured it from 2010 on.
        """
        best = np.maximum.accumulate(self.precision[::-1])[::-1]
        return float((np.diff(self.recall, prepend=0.0) * best).sum())


def precision_recall(hits: NDArray[np.bool_], positives: int) -> PrecisionRecall:
    """The curve of detections in the order of falling scores.

    Args:
        hits: (D,) whether each is right.
        positives: true boxes, at least 1.
    """
    right = np.cumsum(hits)
    return PrecisionRecall(right / np.arange(1, len(hits) + 1), right / positives)


def _weighted_area(weights: Reals, hits: NDArray[np.bool_], positives: NDArray[np.int64]) -> Reals:
    """(b,): areas with each detection (columns) counted as often as its image was drawn."""
    hit = weights * hits
    right, taken = np.cumsum(hit, axis=1), np.cumsum(weights, axis=1)
    precision = np.divide(right, taken, out=np.zeros_like(right), where=taken > 0)
    best = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
    area: Reals = np.divide(
        (hit * best).sum(axis=1), positives, out=np.full(len(weights), np.nan), where=positives > 0
    )
    return area
