"""The headline numbers of a classifier, each with its 95 % interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.diagnosis import calibration, metrics, scoring_rules
from app.diagnosis.resampled_metrics import calibration_interval, calibration_noise, resample
from app.stats import Interval
from app.stats.bootstrap import percentile
from app.stats.proportions import wilson

TOP = (3, 5)
"""Top-k accuracies that are measured, where there are more than k classes."""


@dataclass(frozen=True)
class Measured:
    """A number and how sure it is."""

    value: float
    """The number; NaN if not defined."""
    low: float
    """Lower end of the 95 % interval."""
    high: float
    """Upper end of the 95 % interval."""
    method: str
    """`wilson` for proportions, `bootstrap` for the rest."""


@dataclass(frozen=True)
class ClassResult:
    """What one class's test cases and predictions say."""

    name: str
    """The class."""
    support: int
    """Its test cases."""
    predicted: int
    """How often it was predicted."""
    recall: Measured
    """Share of its test cases predicted right."""
    precision: Measured
    """Share of its predictions that are right."""
    f1: float
    """Harmonic mean of both; NaN for a class neither labelled nor predicted."""
    mean_confidence: float
    """Mean confidence over its test cases; NaN without."""


def headline(
    rows: NDArray[np.float64],
    labels: NDArray[np.int64],
    rng: np.random.Generator,
    *,
    bins: int = 10,
    resamples: int = 1000,
) -> Mapping[str, Measured]:
    """Headline numbers by name, in the order in which they are shown.

    Log loss is in nats and the Brier score goes from 0 to 2; all others are fractions.

    Args:
        rows: (N, K) probabilities, N of at least 1.
        labels: (N,) true classes.
        rng: draws the bootstrap samples.
        bins: bins of the calibration errors.
        resamples: bootstrap samples; fewer for very many test cases.
    """
    top1, confidence = rows.argmax(axis=1), rows.max(axis=1)
    right, matrix = top1 == labels, metrics.confusion(top1, labels, rows.shape[1])
    rates = {
        "precision": metrics.precision(matrix),
        "recall": metrics.recall(matrix),
        "f1": metrics.f1(matrix),
    }
    drawn = resample(rows, labels, rng, resamples=resamples, bins=bins)
    bars = calibration.reliability(confidence, right, bins)
    places = scoring_rules.ranks(rows, labels)
    found = {"accuracy": proportion(int(right.sum()), right.size)}
    for name in ("macro_precision", "macro_recall", "macro_f1"):
        rate = float(metrics.macro(rates[name.removeprefix("macro_")], matrix))
        found[name] = _resampled(rate, percentile(drawn[name]))
    found["balanced_accuracy"] = found["macro_recall"]
    for name in ("weighted_precision", "weighted_recall", "weighted_f1"):
        rate = float(metrics.weighted(rates[name.removeprefix("weighted_")], matrix))
        found[name] = _resampled(rate, percentile(drawn[name]))
    for k in TOP:
        if rows.shape[1] > k:
            found[f"top_{k}_accuracy"] = proportion(int((places < k).sum()), places.size)
    losses = {
        "log_loss": scoring_rules.log_losses(rows, labels),
        "brier": scoring_rules.brier_scores(rows, labels),
    }
    for name, each in losses.items():
        found[name] = _resampled(float(each.mean()), percentile(drawn[name]))
    errors = {
        "ece": float(bars.ece),
        "mce": float(bars.mce),
        "adaptive_ece": calibration.adaptive_ece(confidence, right, bins),
        "classwise_ece": calibration.classwise_ece(rows, labels, bins),
    }
    noise = calibration_noise(confidence, rng, bins=bins)
    for name, value in errors.items():
        found[name] = _resampled(value, calibration_interval(value, drawn[name], noise=noise.get(name, -1.0)))
    return found


def per_class(
    matrix: metrics.Matrix,
    confidence: NDArray[np.float64],
    labels: NDArray[np.int64],
    class_names: tuple[str, ...],
) -> tuple[ClassResult, ...]:
    """Results of the K classes, in their order.

    Args:
        matrix: (K, K) confusion matrix.
        confidence: (N,) confidence of each prediction.
        labels: (N,) true classes.
        class_names: K names.
    """
    cases, hits, predicted = metrics.support(matrix), np.diagonal(matrix), matrix.sum(axis=0)
    sure = np.bincount(labels, confidence, minlength=len(matrix))
    f1 = metrics.f1(matrix)
    return tuple(
        ClassResult(
            name=name,
            support=int(cases[k]),
            predicted=int(predicted[k]),
            recall=proportion(int(hits[k]), int(cases[k])),
            precision=proportion(int(hits[k]), int(predicted[k])),
            f1=float(f1[k]),
            mean_confidence=float(sure[k] / cases[k]) if cases[k] else np.nan,
        )
        for k, name in enumerate(class_names)
    )


def proportion(successes: int, trials: int) -> Measured:
    """A share with Wilson's interval; NaN without trials."""
    ends = wilson(successes, trials)
    return Measured(successes / trials if trials else np.nan, ends.low, ends.high, "wilson")


def _resampled(value: float, ends: Interval) -> Measured:
    return Measured(value, ends.low, ends.high, "bootstrap")
