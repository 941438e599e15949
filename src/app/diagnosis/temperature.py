"""Temperature scaling: one number that makes a model's confidence fit its accuracy, tried on held-out cases."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from app.diagnosis import calibration, scoring_rules

SMALLEST = 1e-12
"""A smaller probability counts as this much; single precision gives zeros, whose logarithm has no use."""
LIMITS = (0.05, 20.0)
"""Temperatures outside are not looked for."""


@dataclass(frozen=True)
class TemperatureScaling:
    """What temperature scaling would do.

    Before and after are of the same cases, each scaled by a temperature that was fitted without it.
    """

    temperature: float
    """Fitted on all test cases; above 1 the model is too sure, below 1 not sure enough."""
    ece_before: float
    """ECE as it is."""
    ece_after: float
    """ECE of held-out cases after scaling."""
    log_loss_before: float
    """Log loss as it is."""
    log_loss_after: float
    """Log loss of held-out cases after scaling."""


def fit(rows: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """Temperature with the least log loss, within `LIMITS` (Guo et al., ICML 2017, section 4.2).

    The log loss is convex in 1/temperature; the root of its slope is bracketed and found.

    Args:
        rows: (N, K) probabilities.
        labels: (N,) true classes.
    """
    logits = np.log(np.maximum(rows, SMALLEST))
    of_label = float(scoring_rules.own(logits, labels).mean())

    def slope(inverse: float) -> float:
        return float((special.softmax(logits * inverse, axis=1) * logits).sum(axis=1).mean()) - of_label

    lowest, highest = 1 / LIMITS[1], 1 / LIMITS[0]
    if slope(lowest) >= 0:
        return LIMITS[1]
    if slope(highest) <= 0:
        return LIMITS[0]
    return 1 / float(optimize.toms748(slope, lowest, highest, rtol=1e-6))


def scale(rows: NDArray[np.float64], temperature: float) -> NDArray[np.float64]:
    """(N, K): the probabilities of the same model at another temperature."""
    scaled: NDArray[np.float64] = special.softmax(np.log(np.maximum(rows, SMALLEST)) / temperature, axis=1)
    return scaled


def cross_fit(
    rows: NDArray[np.float64], labels: NDArray[np.int64], rng: np.random.Generator
) -> TemperatureScaling:
    """Calibration before and after scaling, by two halves that scale each other.

    Args:
        rows: (N, K) probabilities.
        labels: (N,) true classes.
        rng: draws the halves.
    """
    half = rng.permutation(len(rows)) % 2
    after = rows.copy()
    for side in (0, 1):
        held, others = half == side, half != side
        if others.any():
            after[held] = scale(rows[held], fit(rows[others], labels[others]))
    return TemperatureScaling(
        temperature=fit(rows, labels),
        ece_before=_ece(rows, labels),
        ece_after=_ece(after, labels),
        log_loss_before=float(scoring_rules.log_losses(rows, labels).mean()),
        log_loss_after=float(scoring_rules.log_losses(after, labels).mean()),
    )


def _ece(rows: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    return float(calibration.reliability(rows.max(axis=1), rows.argmax(axis=1) == labels).ece)
