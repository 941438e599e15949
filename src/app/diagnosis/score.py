"""The autopsy score: one number from 0 to 100 about a classifier and its test data, and its sub-scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.diagnosis import metrics

PROFILES: Mapping[str, tuple[str, ...]] = {
    "original": (
        "class_balance",
        "generalization",
        "confusion",
        "confidence_quality",
        "representation",
        "dataset_quality",
    ),
    "assay": (
        "performance",
        "class_balance",
        "generalization",
        "confusion",
        "confidence_quality",
        "representation",
        "dataset_quality",
    ),
}
"""The sub-scores of each profile. `original` ignores how often the model is right; `assay` adds
`performance`."""

WEIGHTS: Mapping[str, Mapping[str, float]] = {"original": {}, "assay": {"performance": 5.0}}
"""Weights that differ from 1. `performance` weighs about as much as all others together: with a weight of 1,
a model that is right in 17 % of the cases and knows it would get 78 of 100."""

WORST_GAP = 0.30
"""A generalization gap or a calibration error of this much brings its sub-score to 0."""


@dataclass(frozen=True)
class AutopsyScore:
    """The autopsy score and what it is made of."""

    overall: float
    """Weighted mean of the sub-scores that are not N/A, 0 to 100, rounded to 0.1; NaN if all are N/A."""
    sub_scores: Mapping[str, float]
    """Each sub-score of the profile, 0 to 100, rounded to 0.1; NaN is N/A."""


def autopsy_score(
    matrix: metrics.Matrix,
    *,
    ece: float,
    confident_errors: float,
    accuracy_gap: float | None = None,
    quality_faults: float | None = None,
    weights: Mapping[str, float] | None = None,
    profile: str = "assay",
) -> AutopsyScore:
    """Score of one classifier on one set of test cases.

    Args:
        matrix: (K, K) confusion matrix.
        ece: expected calibration error.
        confident_errors: share of the wrong predictions with confidence of at least 0.90.
        accuracy_gap: accuracy on training data minus accuracy here; None (no training data) is N/A.
        quality_faults: share of unreadable, low-resolution, extra duplicate and near-empty images; None is
            N/A.
        weights: weight of each sub-score; those not named keep the profile's (`WEIGHTS`, else 1).
        profile: `assay` or `original`.

    Raises:
        ValueError: for an unknown profile, an unknown sub-score in the weights, or a negative weight.
    """
    if profile not in PROFILES:
        raise ValueError(
            f"the profile of the autopsy score must be one of {', '.join(PROFILES)}, not {profile}"
        )
    names = PROFILES[profile]
    weight = dict.fromkeys(names, 1.0) | dict(WEIGHTS[profile]) | dict(weights or {})
    if strange := [name for name, value in weight.items() if name not in names or not value >= 0]:
        raise ValueError(f"weights are numbers from 0 on for {', '.join(names)}; {', '.join(strange)} is not")
    cases = metrics.support(matrix)
    values = {
        "performance": float(metrics.macro_f1(matrix)),
        "class_balance": float(np.minimum(balance(cases), 1.0).mean()) if cases.any() else np.nan,
        "generalization": np.nan if accuracy_gap is None else 1 - _clip01(accuracy_gap / WORST_GAP),
        "confusion": 1 - _clip01(_worst_confusion(matrix)),
        "confidence_quality": 1 - _clip01(ece / WORST_GAP),
        "representation": 1 - _clip01(confident_errors),
        "dataset_quality": np.nan if quality_faults is None else 1 - _clip01(quality_faults),
    }
    sub_scores = {name: round(100 * values[name], 1) for name in names}
    measured = [name for name in names if not np.isnan(sub_scores[name]) and weight[name] > 0]
    total = sum(weight[name] for name in measured)
    mean = sum(weight[name] * sub_scores[name] for name in measured) / total if measured else np.nan
    return AutopsyScore(round(mean, 1), sub_scores)


def balance(cases: NDArray[np.int64]) -> NDArray[np.float64]:
    """Test cases of each class over the median class, (K,).

    The median is over the classes that have test cases, so that a model of many classes tested on a few of
    them has a median at all; a class without test cases is at 0.
    """
    present = cases[cases > 0]
    return cases / np.median(present) if present.size else np.zeros(cases.shape)


def _worst_confusion(matrix: metrics.Matrix) -> float:
    """Mean of the three largest confusion rates that occur; 0 if nothing is confused."""
    rates = metrics.confusion_rates(matrix).ravel()
    worst = np.sort(rates[rates > 0])[-3:]
    return float(worst.mean()) if worst.size else 0.0


def _clip01(value: float) -> float:
    return float(np.clip(value, 0.0, 1.0))
