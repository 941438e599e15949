"""Effects of paired outcomes with their intervals, many at once: of two shares, and of a mean over the cases."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from app.stats.interval import Floats, Intervals, check_level


def paired_difference(lost: ArrayLike, gained: ArrayLike, cases: int, level: float = 0.95) -> Intervals:
    """Score intervals of (lost - gained) / cases, the difference of two paired proportions.

    Inverts the score test of Tango (Statistics in Medicine 17, 1998, eq. 12 and 13) by bisection: good
    coverage also where few pairs differ, and never empty where none does.

    Args:
        lost: (M,) cases that are right before and wrong after.
        gained: (M,) cases the other way round.
        cases: N; 0 gives NaN ends.
        level: confidence level, in (0, 1).

    Raises:
        ValueError: the level is not in (0, 1).
    """
    b, c = (
        np.atleast_1d(np.asarray(lost, dtype=np.float64)),
        np.atleast_1d(np.asarray(gained, dtype=np.float64)),
    )
    if cases == 0:
        return _unknown(b.shape, level)
    z = _normal_quantile(level)
    observed = (b - c) / cases
    low = _bisect(b, c, cases, low=np.full(b.shape, -1.0), high=observed, target=z)
    high = _bisect(b, c, cases, low=observed, high=np.full(b.shape, 1.0), target=-z)
    return Intervals(low, high, level)


def mean_difference(total: ArrayLike, squares: ArrayLike, cases: int, level: float = 0.95) -> Intervals:
    """Intervals of a mean of per-case differences in [-1, 1], such as accuracy lost over repetitions.

    A normal interval after adding half a case that loses everything, half a case that gains everything and
    one that does neither: with one repetition it is the adjusted Wald interval of Agresti and Min
    (Statistics in Medicine 24, 2005, section 3), and it has a width even where every case says the same.

    Args:
        total: (M,) sum of the differences over the test cases.
        squares: (M,) sum of their squares.
        cases: N; 0 gives NaN ends.
        level: confidence level, in (0, 1).

    Raises:
        ValueError: the level is not in (0, 1).
    """
    sums, sums2 = (
        np.atleast_1d(np.asarray(total, dtype=np.float64)),
        np.atleast_1d(np.asarray(squares, np.float64)),
    )
    if cases == 0:
        return _unknown(sums.shape, level)
    mean = sums / (cases + 2)
    error = np.sqrt(((sums2 + 1) / (cases + 2) - mean**2) / (cases + 2))
    half = _normal_quantile(level) * error
    observed = sums / cases
    return Intervals(
        np.clip(np.minimum(mean - half, observed), -1, 1),
        np.clip(np.maximum(mean + half, observed), -1, 1),
        level,
    )


def cohens_h(before: ArrayLike, after: ArrayLike) -> Floats:
    """Effect size of two proportions, 2 asin √before - 2 asin √after (Cohen, 1988, eq. 6.2.1); NaN outside [0, 1]."""
    first, second = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        h: Floats = 2 * np.arcsin(np.sqrt(first)) - 2 * np.arcsin(np.sqrt(second))
    return h


def _normal_quantile(level: float) -> float:
    return float(special.ndtri((1 + check_level(level)) / 2))


def _unknown(shape: tuple[int, ...], level: float) -> Intervals:
    return Intervals(np.full(shape, np.nan), np.full(shape, np.nan), check_level(level))


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
