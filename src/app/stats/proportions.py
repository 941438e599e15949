"""Intervals of a share: Wilson's, and the exact ones for draws with and without replacement.

Without trials nothing is known: `Interval.unknown`. Counts that cannot be are refused.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betaincinv, gammaln, ndtri, stdtrit

from app.stats.interval import Interval, check_level


def wilson(successes: float, trials: float, level: float = 0.95, freedom: float = math.inf) -> Interval:
    """Score interval of a share (Wilson, JASA 22, 1927, p. 209); unknown without trials.

    Args:
        successes: how many of the trials succeeded, 0..trials.
        trials: how many there were; may be an effective, fractional number.
        level: confidence level, in (0, 1).
        freedom: degrees of freedom of the variance behind an effective number, for Student's quantile in
            place of the normal one.

    Raises:
        ValueError: the counts cannot be, or the level is not in (0, 1).
    """
    _check_counts(successes, trials)
    up_to = (1 + check_level(level)) / 2
    if trials == 0:
        return Interval.unknown(level)
    z2 = float(ndtri(up_to) if math.isinf(freedom) else stdtrit(freedom, up_to)) ** 2
    share = successes / trials
    centre = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = math.sqrt(z2 * (share * (1 - share) / trials + z2 / (4 * trials**2))) / (1 + z2 / trials)
    # At 0 and 1 the ends are exact, whatever the last bit of the square root says.
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == trials else min(1.0, centre + half)
    return Interval(low, high, level)


def clopper_pearson(successes: int, trials: int, level: float = 0.95) -> Interval:
    """The exact binomial interval (Clopper and Pearson, Biometrika 26, 1934); unknown without trials.

    Args:
        successes: how many of the trials, drawn with replacement, succeeded: 0..trials.
        trials: how many there were.
        level: confidence level, in (0, 1).

    Raises:
        ValueError: the counts cannot be, or the level is not in (0, 1).
    """
    _check_counts(successes, trials)
    tail = (1 - check_level(level)) / 2
    if trials == 0:
        return Interval.unknown(level)
    low = 0.0 if successes == 0 else float(betaincinv(successes, trials - successes + 1, tail))
    high = 1.0 if successes == trials else float(betaincinv(successes + 1, trials - successes, 1 - tail))
    return Interval(low, high, level)


def upper_bound(successes: float, trials: float, level: float = 0.95) -> float:
    """One-sided exact upper bound of a rate (Clopper and Pearson, Biometrika 26, 1934).

    1 without trials, and where every trial had the event: the bound of a rate of noise is never too small.

    Args:
        successes: how many of the trials had the event.
        trials: how many there were.
        level: confidence level, in (0, 1).
    """
    check_level(level)
    return 1.0 if successes >= trials else float(betaincinv(successes + 1.0, trials - successes, level))


def finite_population(successes: int, trials: int, size: int, level: float = 0.95) -> Interval:
    """The exact interval of a share of a finite population, drawn without replacement (Konijn 1973).

    All counts M of the population are kept that two one-sided tests at (1 - level)/2 do not reject; found by
    bisection. Unknown without trials.

    Args:
        successes: how many of the drawn succeeded, 0..trials.
        trials: how many were drawn, at most the size.
        size: N, of the population.
        level: confidence level, in (0, 1).

    Raises:
        ValueError: the counts cannot be, or the level is not in (0, 1).
    """
    _check_counts(successes, trials)
    if trials > size:
        raise ValueError(f"{trials} cannot be drawn without replacement from {size}")
    tail = (1 - check_level(level)) / 2
    if trials == 0:
        return Interval.unknown(level)
    low, high = successes, size - (trials - successes)

    def smallest() -> int:  # the smallest M with P(X >= successes | M) > tail
        left, right = low, high
        while left < right:
            middle = (left + right) // 2
            if _hypergeometric_tail(size, middle, trials, successes) > tail:
                right = middle
            else:
                left = middle + 1
        return left

    def largest() -> int:  # the largest M with P(X <= successes | M) > tail, by counting failures instead
        left, right = low, high
        while left < right:
            middle = (left + right + 1) // 2
            if _hypergeometric_tail(size, size - middle, trials, trials - successes) > tail:
                left = middle
            else:
                right = middle - 1
        return left

    return Interval(smallest() / size, largest() / size, level)


def _hypergeometric_tail(total: int, marked: int, n: int, at_least: int) -> float:
    """P(X >= at_least), X the marked ones in n draws without replacement out of total."""
    counts = np.arange(max(at_least, 0, n - (total - marked)), min(n, marked) + 1)
    if not len(counts):
        return 0.0

    def log_choose(a: float | np.ndarray, b: float | np.ndarray) -> np.ndarray:
        return np.asarray(
            gammaln(np.add(a, 1.0)) - gammaln(np.add(b, 1.0)) - gammaln(np.subtract(a, b) + 1.0)
        )

    logs = log_choose(marked, counts) + log_choose(total - marked, n - counts) - log_choose(total, n)
    return float(np.exp(logs).sum())


def _check_counts(successes: float, trials: float) -> None:
    if not 0 <= successes <= trials:
        raise ValueError(f"of {trials} trials 0 to {trials} can succeed, not {successes}")
