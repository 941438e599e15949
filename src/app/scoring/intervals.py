"""Intervals of shares and of paired differences, for one mutant or for arrays of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """Two ends of a confidence interval; NaN where there was nothing to measure."""

    low: float
    """Lower end."""
    high: float
    """Upper end."""

    def __contains__(self, value: float) -> bool:
        """Whether the value lies between the ends, ends included."""
        return self.low <= value <= self.high


UNKNOWN = Interval(float("nan"), float("nan"))
"""The interval of something that was not measured."""


@dataclass(frozen=True)
class Intervals:
    """Intervals of many quantities at once."""

    low: Floats
    """(M,): lower ends."""
    high: Floats
    """(M,): upper ends."""

    def __getitem__(self, index: int) -> Interval:
        """The interval of one quantity."""
        return Interval(float(self.low[index]), float(self.high[index]))


def wilson(successes: int, trials: int, level: float = 0.95) -> Interval:
    """Score interval of a share (Wilson, JASA 22, 1927, p. 209); unknown without trials."""
    if trials == 0:
        return UNKNOWN
    z2 = _normal_quantile(level) ** 2
    share = successes / trials
    centre = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = float(np.sqrt(z2 * (share * (1 - share) / trials + z2 / (4 * trials**2)))) / (1 + z2 / trials)
    # At 0 and 1 the ends are exact, whatever the last bit of the square root says.
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == trials else min(1.0, centre + half)
    return Interval(low, high)


def paired_difference(lost: ArrayLike, gained: ArrayLike, cases: int, level: float = 0.95) -> Intervals:
    """Score intervals of (lost - gained) / cases, the difference of two paired proportions.

    Inverts the score test of Tango (Statistics in Medicine 17, 1998, eq. 12 and 13) by bisection: good
    coverage also where few pairs differ, and never empty where none does.

    Args:
        lost: (M,) test cases that the original gets right and the mutant wrong.
        gained: (M,) test cases the other way round.
        cases: N; 0 gives NaN ends.
        level: confidence level, between 0 and 1.
    """
    b, c = (
        np.atleast_1d(np.asarray(lost, dtype=np.float64)),
        np.atleast_1d(np.asarray(gained, dtype=np.float64)),
    )
    if cases == 0:
        return Intervals(np.full(b.shape, np.nan), np.full(b.shape, np.nan))
    z = _normal_quantile(level)
    observed = (b - c) / cases
    low = _bisect(b, c, cases, low=np.full(b.shape, -1.0), high=observed, target=z)
    high = _bisect(b, c, cases, low=observed, high=np.full(b.shape, 1.0), target=-z)
    return Intervals(low, high)


def mean_difference(total: ArrayLike, squares: ArrayLike, cases: int, level: float = 0.95) -> Intervals:
    """Intervals of a mean of per-case differences in [-1, 1], such as accuracy lost over repetitions.

    A normal interval after adding half a case that loses everything, half a case that gains everything and
    one that does neither: with one repetition it is the adjusted Wald interval of Agresti and Min
    (Statistics in Medicine 24, 2005, section 3), and it has a width even where every case says the same.

    Args:
        total: (M,) sum of the differences over the test cases.
        squares: (M,) sum of their squares.
        cases: N; 0 gives NaN ends.
        level: confidence level, between 0 and 1.
    """
    sums, sums2 = (
        np.atleast_1d(np.asarray(total, dtype=np.float64)),
        np.atleast_1d(np.asarray(squares, np.float64)),
    )
    if cases == 0:
        return Intervals(np.full(sums.shape, np.nan), np.full(sums.shape, np.nan))
    mean = sums / (cases + 2)
    error = np.sqrt(((sums2 + 1) / (cases + 2) - mean**2) / (cases + 2))
    half = _normal_quantile(level) * error
    observed = sums / cases
    return Intervals(
        np.clip(np.minimum(mean - half, observed), -1, 1), np.clip(np.maximum(mean + half, observed), -1, 1)
    )


def cohens_h(before: ArrayLike, after: ArrayLike) -> Floats:
    """Effect size of two proportions, 2 asin √before - 2 asin √after (Cohen, 1988, eq. 6.2.1)."""
    first, second = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    h: Floats = 2 * np.arcsin(np.sqrt(first)) - 2 * np.arcsin(np.sqrt(second))
    return h


def _normal_quantile(level: float) -> float:
    return float(special.ndtri((1 + level) / 2))


def _bisect(b: Floats, c: Floats, n: int, *, low: Floats, high: Floats, target: float) -> Floats:
    """Where Tango's statistic, which falls as the difference grows, meets the target between low and high."""
    for _ in range(60):
        middle = (low + high) / 2
        above = _tango(b, c, n, middle) > target
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return (low + high) / 2


def _tango(b: Floats, c: Floats, n: int, difference: Floats) -> Floats:
    """Score statistic of the hypothesis that the two proportions differ by `difference`."""
    linear = (2 * n - b + c) * difference - b - c
    constant = -c * difference * (1 - difference)
    shared = (np.sqrt(np.maximum(linear**2 - 8 * n * constant, 0.0)) - linear) / (4 * n)
    variance = n * (2 * shared + difference * (1 - difference))
    distance = b - c - n * difference
    spread = np.sqrt(np.maximum(variance, 0.0))
    # Without variance the hypothesis is certain: any distance from it is infinitely far.
    certain = np.where(distance == 0, 0.0, np.copysign(np.inf, distance))
    return np.divide(distance, spread, out=certain, where=spread > 0)
