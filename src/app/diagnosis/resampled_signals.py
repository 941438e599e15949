"""Calibration error and autopsy score on bootstrap resamples of the test cases, for hundreds of mutants at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.diagnosis.calibration import CONFIDENT
from app.diagnosis.score import WEIGHTS, WORST_GAP
from app.records import Predictions

Floats = NDArray[np.float64]
BINS = 10
WORST = 3
"""Confusion rates that make the sub-score `confusion`."""


@dataclass(frozen=True)
class Draws:
    """Signals of one model on B resamples; each is the mean over the repetitions."""

    ece: Floats
    """(B,): expected calibration error in 10 bins."""
    autopsy_score: Floats
    """(B,): 0 to 100, in the profile `assay`, not rounded."""


class Resamples:
    """B resamples of N test cases, the same for every model, so that differences between models are paired.

    Args:
        labels: (N,) true classes in 0..K-1, N of at least 1.
        classes: K.
        weights: (B, N), how often each resample holds each test case.
    """

    def __init__(
        self, labels: NDArray[np.integer], classes: int, weights: NDArray[np.integer | np.floating]
    ) -> None:
        self.labels, self.classes = np.asarray(labels, dtype=np.int64), classes
        self._rows = np.ascontiguousarray(weights, dtype=np.float32)
        self._columns = np.ascontiguousarray(self._rows.T)
        self._size = self._rows.sum(axis=1, dtype=np.float64)
        self._support = _totals(self._columns, self.labels, classes)
        present = self._support > 0
        self._present = present
        median = np.nanmedian(np.where(present, self._support, np.nan), axis=0)
        self._balance = np.minimum(self._support / median, 1.0).mean(axis=0)

    def draws(self, predictions: Predictions) -> Draws:
        """The signals of one model.

        Args:
            predictions: outcomes of T repetitions over the N test cases, all finite.
        """
        found = [
            self._one(np.asarray(top1, dtype=np.int64), confidence)
            for top1, confidence in zip(predictions.top1, predictions.confidence, strict=True)
        ]
        ece, score = np.mean(found, axis=0)
        return Draws(ece, score)

    def _one(self, top1: NDArray[np.int64], confidence: NDArray[np.float32]) -> tuple[Floats, Floats]:
        parts = dict(self.sub_scores(top1, confidence))
        ece = parts.pop("ece")
        weights = {name: WEIGHTS["assay"].get(name, 1.0) for name in parts}
        total = sum((weights[name] * part for name, part in parts.items()), np.zeros(ece.shape))
        return ece, 100 * total / sum(weights.values())

    def sub_scores(self, top1: NDArray[np.integer], confidence: NDArray[np.floating]) -> Mapping[str, Floats]:
        """Each sub-score that depends on the test cases, 0 to 1, and the `ece`, on each resample: (B,) each.

        Args:
            top1: (N,) predicted classes.
            confidence: (N,) their confidence.
        """
        right = top1 == self.labels
        edges = np.linspace(0.0, 1.0, BINS + 1)[1:-1].astype(confidence.dtype)
        # In each bin, count times |accuracy - confidence| is the absolute sum of the gaps; then the wrong
        # and the confidently wrong are counted in two columns of their own.
        columns = np.zeros((right.size, BINS + 2), dtype=np.float32)
        columns[np.arange(right.size), np.searchsorted(edges, confidence, side="right")] = right - confidence
        columns[:, BINS] = ~right
        columns[:, BINS + 1] = ~right & (confidence >= CONFIDENT)
        sums = (self._rows @ columns).astype(np.float64)
        ece = np.abs(sums[:, :BINS]).sum(axis=1) / self._size
        wrong, confident = sums[:, BINS], sums[:, BINS + 1]
        return {
            "ece": ece,
            **self._confusion(np.asarray(top1, dtype=np.int64), np.flatnonzero(~right)),
            "class_balance": self._balance,
            "confidence_quality": 1 - np.minimum(ece / WORST_GAP, 1.0),
            "representation": 1 - confident / np.maximum(wrong, 1.0),
        }

    def _confusion(self, top1: NDArray[np.int64], wrong: NDArray[np.int64]) -> dict[str, Floats]:
        """Macro F1 and what the three largest confusion rates leave, from the wrong predictions alone."""
        cell = self.labels[wrong] * self.classes + top1[wrong]
        cells, place = np.unique(cell, return_inverse=True)
        counts = _totals(self._columns[wrong], place, cells.size)
        label, predicted = np.divmod(cells, self.classes)
        hits = self._support - _totals(counts, label, self.classes)
        named = hits + _totals(counts, predicted, self.classes)
        f1 = 2 * hits / np.maximum(self._support + named, 1.0)
        performance = np.where(self._present, f1, 0.0).sum(axis=0) / self._present.sum(axis=0)
        rates = counts / np.maximum(self._support[label], 1.0)
        worst = np.partition(rates, -WORST, axis=0)[-WORST:] if cells.size > WORST else rates
        mean = worst.sum(axis=0) / np.maximum((worst > 0).sum(axis=0), 1)
        return {"performance": performance, "confusion": 1 - np.minimum(mean, 1.0)}


def _totals(rows: NDArray[np.floating], group: NDArray[np.integer], groups: int) -> Floats:
    """(groups, B): sums of the rows, (n, B), of each group."""
    total = np.zeros((groups, rows.shape[1]))
    if group.size:
        order = np.argsort(group, kind="stable")
        found, first = np.unique(group[order], return_index=True)
        total[found] = np.add.reduceat(rows[order], first, axis=0)
    return total
