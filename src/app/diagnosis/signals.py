"""The diagnosis of one model in numbers, and how a mutant's differ from the original's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.diagnosis import calibration, metrics
from app.diagnosis.causes import find_causes
from app.diagnosis.score import autopsy_score
from app.records import Predictions


@dataclass(frozen=True)
class Signals:
    """Diagnosis of one model in numbers; each is the mean over the repetitions."""

    accuracy: float
    """Share of test cases predicted right; NaN without test cases."""
    support: NDArray[np.int64]
    """(K,): test cases of each class."""
    recall: NDArray[np.float64]
    """(K,): share of each class's test cases predicted right; NaN for a class without test cases."""
    precision: NDArray[np.float64]
    """(K,): share of each class's predictions that are right, over the repetitions that predict it; else
    NaN."""
    ece: float
    """Expected calibration error in 10 bins."""
    autopsy_score: float
    """0 to 100."""
    sub_scores: Mapping[str, float]
    """Sub-scores of the autopsy score, 0 to 100; NaN is N/A."""
    causes: frozenset[str]
    """Types of the causes that fire in at least half of the repetitions."""


def signals(
    predictions: Predictions, labels: NDArray[np.integer], classes: int, *, profile: str = "assay"
) -> Signals:
    """Diagnosis of one model from its outcomes; original and mutants go through this one function.

    Args:
        predictions: outcomes of T repetitions over N test cases, all finite.
        labels: (N,) true classes in 0..K-1.
        classes: K.
        profile: which sub-scores the autopsy score has, `assay` or `original`.

    Raises:
        ValueError: if an output is not finite, a label is not one of the K classes, or the profile is
            unknown.
    """
    matrices = metrics.confusion(predictions.top1, labels, classes)
    right = predictions.right(labels)
    ece = calibration.reliability(predictions.confidence, right).ece
    scores, fired = [], Counter[str]()
    for matrix, confidence, hit, error in zip(matrices, predictions.confidence, right, ece, strict=True):
        share = calibration.confident_error_share(confidence, hit)
        scores.append(autopsy_score(matrix, ece=float(error), confident_errors=share, profile=profile))
        fired.update({finding.cause_type for finding in find_causes(matrix, confidence, hit)})
    return Signals(
        accuracy=float(metrics.accuracy(matrices).mean()),
        support=metrics.support(matrices[0]),
        recall=metrics.recall(matrices).mean(axis=0),
        precision=_mean_defined(metrics.precision(matrices)),
        ece=float(ece.mean()),
        autopsy_score=float(np.mean([score.overall for score in scores])),
        sub_scores={
            name: float(np.mean([score.sub_scores[name] for score in scores]))
            for name in scores[0].sub_scores
        },
        causes=frozenset(cause for cause, times in fired.items() if 2 * times >= predictions.repetitions),
    )


def changes(original: Signals, mutant: Signals) -> dict[str, float]:
    """How much worse the mutant is, by signal; NaN where a signal is not measured in both.

    The signals: `accuracy_drop`, `recall_drop` (of the class that lost most), `ece_rise`,
    `autopsy_score_drop`, and `new_causes`, the number of cause types that the original does not have.
    """
    drops = original.recall - mutant.recall
    return {
        "accuracy_drop": original.accuracy - mutant.accuracy,
        "recall_drop": float(np.nanmax(drops)) if np.isfinite(drops).any() else np.nan,
        "ece_rise": mutant.ece - original.ece,
        "autopsy_score_drop": original.autopsy_score - mutant.autopsy_score,
        "new_causes": float(len(new_causes(original, mutant))),
    }


def new_causes(original: Signals, mutant: Signals) -> tuple[str, ...]:
    """Cause types of the mutant that the original does not have, in alphabetical order."""
    return tuple(sorted(mutant.causes - original.causes))


def _mean_defined(rates: NDArray[np.float64]) -> NDArray[np.float64]:
    """(T, K) to (K,): mean over the repetitions where the rate is defined; NaN where it never is."""
    defined = np.isfinite(rates)
    times = defined.sum(axis=0)
    total = np.where(defined, rates, 0.0).sum(axis=0)
    mean: NDArray[np.float64] = np.divide(total, times, out=np.full(total.shape, np.nan), where=times > 0)
    return mean
