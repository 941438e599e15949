"""All hypotheses about one model, weighed: which of them stand as findings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.diagnosis import (
    class_confusion,
    class_order,
    confidence_gap,
    data_faults,
    hidden_slices,
    label_noise,
    metrics,
)
from app.diagnosis.causes import Finding, find_causes
from app.diagnosis.data_faults import LeakageCounts, QualityCounts
from app.diagnosis.recommendations import advised
from app.diagnosis.significance import Support
from app.diagnosis.space import EmbeddingSpace

CONSEQUENCES = frozenset({"class_overlap", "representation_problem", "underfitting", "overfitting"})
"""With columns in the wrong order, these rules describe the order and not the model."""


@dataclass(frozen=True)
class Evidence:
    """All that is known about one model."""

    matrix: metrics.Matrix
    """(K, K): confusion matrix."""
    confidence: NDArray[np.float64]
    """(N,): confidence of each prediction."""
    right: NDArray[np.bool_]
    """(N,): whether it is right."""
    class_names: tuple[str, ...]
    """K names."""
    noise: label_noise.LabelNoise
    """What the predictions say about the labels."""
    order: class_order.ClassOrder
    """The best renaming of the columns."""
    space: EmbeddingSpace | None = None
    """The embeddings, if known."""
    train_accuracy: float | None = None
    """Accuracy on training data, if known."""
    quality: QualityCounts | None = None
    """What the scan of the images counted, if there was one."""
    leakage: LeakageCounts | None = None
    """Test cases in the training data, if that was looked for."""

    @property
    def accuracy_gap(self) -> float | None:
        """Accuracy on training data minus accuracy here, if known."""
        return None if self.train_accuracy is None else self.train_accuracy - float(self.right.mean())

    def findings(self, profile: str) -> tuple[Finding, ...]:
        """The findings with their recommendations, most confident first.

        Profile `original` gives its five rules as they are. Profile `assay` keeps of them what is more than
        chance and adds its own; if the columns are in the wrong order, only what does not follow from that.
        """
        original = find_causes(
            self.matrix,
            self.confidence,
            self.right,
            class_names=self.class_names,
            accuracy_gap=self.accuracy_gap,
            similarity=None if self.space is None else self.space.similarity,
        )
        found = original if profile == "original" else self._weighed(original)
        return tuple(advised(each) for each in sorted(found, key=lambda each: -each.confidence))

    def _weighed(self, original: tuple[Finding, ...]) -> tuple[Finding, ...]:
        names = self.class_names
        support = Support(self.matrix, self.confidence, self.right, names, self.train_accuracy)
        found = [
            *support.keep(original),
            *class_order.find(self.order, names),
            *data_faults.find(self.quality, self.leakage),
        ]
        if self.order.mismatch:
            return tuple(each for each in found if each.cause_type not in CONSEQUENCES)
        pairs = [frozenset(each.affected) for each in found if each.cause_type == "class_overlap"]
        found += class_confusion.find(self.matrix, names, pairs)
        found += confidence_gap.find(self.confidence, self.right)
        found += label_noise.find(self.noise, names)
        if self.space is not None:
            found += hidden_slices.find(self.space.slices, names, self.space.cases.size)
        return tuple(found)
