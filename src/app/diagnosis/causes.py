"""Diagnosed causes: hypotheses about what is wrong with a classifier, each with its evidence.

The five rules here are those of the original tool, with its numbers; `significance` tells which of their
findings are more than chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.diagnosis import calibration, metrics
from app.diagnosis.score import balance


@dataclass(frozen=True)
class Finding:
    """One diagnosed cause."""

    cause_type: str
    """Which cause, for example `class_overlap`."""
    confidence: float
    """How sure the rule is, 0 to 1."""
    evidence: Mapping[str, float] = field(default_factory=dict)
    """The numbers it rests on, by name."""
    affected: tuple[str, ...] = ()
    """The classes or files concerned; empty if it concerns the whole model."""
    impact: float = 0.0
    """Share of the test cases (or of the accuracy, or of the data) that is at stake, 0 to 1."""
    cases: tuple[int, ...] = ()
    """The test cases concerned, where they can be named, worst first."""
    recommendations: tuple[str, ...] = ()
    """What to do, most useful first; names the classes and numbers."""

    @property
    def severity(self) -> str:
        """`high` if 10 % or more is at stake, `medium` from 2 % on, else `low`."""
        return "high" if self.impact >= 0.10 else "medium" if self.impact >= 0.02 else "low"


def find_causes(
    matrix: metrics.Matrix,
    confidence: calibration.Confidences,
    right: NDArray[np.bool_],
    *,
    class_names: Sequence[str] | None = None,
    accuracy_gap: float | None = None,
    similarity: NDArray[np.float64] | None = None,
) -> tuple[Finding, ...]:
    """Findings of the rules that fire, most confident first; none without test cases.

    Args:
        matrix: (K, K) confusion matrix.
        confidence: (N,) confidence of each prediction.
        right: (N,) whether it is right.
        class_names: K names for `Finding.affected`; the class numbers if not given.
        accuracy_gap: accuracy on training data minus accuracy here, if known.
        similarity: (K, K) cosine between the classes' centroids in an embedding, if known.
    """
    if not right.size:
        return ()
    names = tuple(class_names) if class_names is not None else tuple(map(str, range(len(matrix))))
    found = [
        *_class_imbalance(matrix, names),
        *_overfitting(accuracy_gap),
        *_class_overlap(matrix, names, similarity),
        *_representation_problem(confidence, right),
        *_underfitting(confidence, right),
    ]
    return tuple(sorted(found, key=lambda finding: -finding.confidence))


def severity(value: float, threshold: float) -> float:
    """How far a value is beyond its threshold on the way to 1: clip((x - t) / (1 - t), 0, 0.99)."""
    return float(np.clip((value - threshold) / (1 - threshold), 0.0, 0.99))


def _class_imbalance(matrix: metrics.Matrix, names: Sequence[str]) -> Iterator[Finding]:
    """A class has fewer than half the test cases of the median class."""
    cases = metrics.support(matrix)
    ratios = balance(cases)
    for rare in np.flatnonzero(ratios < 0.5).tolist():
        ratio = float(ratios[rare])
        evidence = {"cases": float(cases[rare]), "ratio_to_median": ratio}
        sure = 0.5 + 0.45 * (0.5 - ratio) / 0.5
        yield Finding("class_imbalance", sure, evidence, (names[rare],), (1 - ratio) / len(cases))


def _overfitting(accuracy_gap: float | None) -> Iterator[Finding]:
    """Accuracy on training data is more than 15 points higher."""
    if accuracy_gap is not None and accuracy_gap > 0.15:
        sure = 0.55 + 0.4 * severity(accuracy_gap, 0.15)
        yield Finding("overfitting", sure, {"accuracy_gap": accuracy_gap}, impact=accuracy_gap)


def _class_overlap(
    matrix: metrics.Matrix, names: Sequence[str], similarity: NDArray[np.float64] | None
) -> Iterator[Finding]:
    """Two classes are confused in both directions, or their centroids point the same way."""
    rates = metrics.confusion_rates(matrix)
    confused = (rates >= 0.20) & (rates.T >= 0.20)
    near = np.zeros_like(confused) if similarity is None else similarity >= 0.85
    for a, b in np.argwhere(np.triu(confused | near, k=1)):
        evidence = {"rate_there": float(rates[a, b]), "rate_back": float(rates[b, a])}
        by_rate = severity(float(rates[a, b] + rates[b, a]) / 2, 0.20)
        by_cosine = 0.0
        if similarity is not None:
            evidence["cosine"] = float(similarity[a, b])
            by_cosine = severity(float(similarity[a, b]), 0.85)
        if confused[a, b] and near[a, b]:
            sure = 0.6 + 0.35 * max(by_rate, by_cosine)
        else:
            sure = 0.4 + 0.35 * by_rate if confused[a, b] else 0.55 + 0.35 * by_cosine
        taken = float(matrix[a, b] + matrix[b, a]) / float(matrix.sum())
        yield Finding("class_overlap", sure, evidence, (names[a], names[b]), taken)


def _representation_problem(
    confidence: calibration.Confidences, right: NDArray[np.bool_]
) -> Iterator[Finding]:
    """More than 30 % of the wrong predictions are confident."""
    share = calibration.confident_error_share(confidence, right)
    if share > 0.30:
        wrong = float((~right).sum())
        evidence = {"confident_error_share": share, "wrong": wrong}
        sure = 0.5 + 0.4 * severity(share, 0.30)
        yield Finding("representation_problem", sure, evidence, impact=share * wrong / right.size)


def _underfitting(confidence: calibration.Confidences, right: NDArray[np.bool_]) -> Iterator[Finding]:
    """The model is neither sure nor right."""
    sure, accuracy = float(confidence.mean(dtype=np.float64)), float(right.mean())
    if sure < 0.55 and accuracy < 0.60:
        evidence = {"mean_confidence": sure, "accuracy": accuracy}
        yield Finding("underfitting", 0.6, evidence, impact=1 - accuracy)
