"""Overconfidence and underconfidence: confidence that is off in one direction over all test cases."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from app.diagnosis.causes import Finding, severity
from app.diagnosis.significance import LEVEL
from app.stats import Interval

LARGE = 0.05
"""A signed gap beyond this is worth a finding."""


def signed_gap(confidence: NDArray[np.float64], right: NDArray[np.bool_], level: float = 0.95) -> Interval:
    """Student's interval of mean confidence minus accuracy; NaN ends below two test cases.

    Args:
        confidence: (N,) confidence of each prediction.
        right: (N,) whether it is right.
        level: confidence level.
    """
    gaps = confidence - right
    if gaps.size < 2:
        return Interval.unknown(level)
    half = stats.t.ppf((1 + level) / 2, gaps.size - 1) * gaps.std(ddof=1) / np.sqrt(gaps.size)
    return Interval(float(gaps.mean() - half), float(gaps.mean() + half), level)


def find(confidence: NDArray[np.float64], right: NDArray[np.bool_]) -> Iterator[Finding]:
    """A finding if the gap is beyond 5 points and its interval excludes 0."""
    ends = signed_gap(confidence, right, 1 - LEVEL)
    gap = float((confidence - right).mean())
    if abs(gap) > LARGE and ends.low * ends.high > 0:
        cause = "overconfidence" if gap > 0 else "underconfidence"
        evidence = {
            "signed_gap": gap,
            "signed_gap_low": ends.low,
            "signed_gap_high": ends.high,
            "mean_confidence": float(confidence.mean()),
            "accuracy": float(right.mean()),
        }
        yield Finding(cause, 0.6 + 0.35 * severity(abs(gap), LARGE), evidence, impact=abs(gap))
