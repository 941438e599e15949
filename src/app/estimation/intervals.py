"""Fixed-sample intervals of an accuracy: exact, Wilson, and Wilson-type from a design variance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import betaincinv, gammaln, ndtri, stdtrit


@dataclass(frozen=True)
class Interval:
    """A confidence interval; also what a report shows as [low, high]."""

    low: float
    """Lower end, in [0, 1]."""
    high: float
    """Upper end, in [0, 1]."""

    @property
    def width(self) -> float:
        """How far apart the ends are."""
        return self.high - self.low

    def covers(self, value: float) -> bool:
        """Whether a value lies inside, ends included."""
        return bool(self.low <= value <= self.high)


class IntervalMethod(Protocol):
    """How an estimator turns its estimate into an interval."""

    @property
    def name(self) -> str:
        """Short name for reports."""
        ...

    def at(self, level: float) -> Interval:
        """The interval of accuracy at a confidence level."""
        ...


def check_level(level: float) -> float:
    """The level itself, if it lies strictly between 0 and 1.

    Raises:
        ValueError: otherwise.
    """
    if not 0 < level < 1:
        raise ValueError(f"a confidence level lies between 0 and 1 (like 0.95), not {level}")
    return level


def wilson(share: float, n: float, level: float = 0.95, freedom: float = math.inf) -> Interval:
    """Wilson's score interval (Wilson 1927) for a share seen in n trials; n may be an effective, fractional number.

    Args:
        share: Observed share; cut to [0, 1].
        n: Number of trials, > 0.
        level: Confidence level.
        freedom: Degrees of freedom of the variance behind an effective n, for Student's quantile.
    """
    up_to = 0.5 + check_level(level) / 2
    z = float(ndtri(up_to)) if math.isinf(freedom) else float(stdtrit(freedom, up_to))
    p = min(max(share, 0.0), 1.0)
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + (z / (2 * n)) ** 2)
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


def clopper_pearson(successes: int, n: int, level: float = 0.95) -> Interval:
    """The exact binomial interval (Clopper & Pearson 1934): for draws with replacement."""
    tail = (1 - check_level(level)) / 2
    low = 0.0 if successes == 0 else float(betaincinv(successes, n - successes + 1, tail))
    high = 1.0 if successes == n else float(betaincinv(successes + 1, n - successes, 1 - tail))
    return Interval(low, high)


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


def hypergeometric(successes: int, n: int, population_size: int, level: float = 0.95) -> Interval:
    """The exact interval for a share of a finite population, n drawn without replacement (Konijn 1973).

    All counts M of the population are kept that two one-sided tests at (1 - level)/2 do not reject; found by bisection.

    Args:
        successes: How many of the n were successes.
        n: Sample size, 1 ≤ n ≤ population_size.
        population_size: N.
        level: Confidence level.
    """
    tail = (1 - check_level(level)) / 2
    low, high = successes, population_size - (n - successes)

    def smallest() -> int:  # the smallest M with P(X >= successes | M) > tail
        left, right = low, high
        while left < right:
            middle = (left + right) // 2
            if _hypergeometric_tail(population_size, middle, n, successes) > tail:
                right = middle
            else:
                left = middle + 1
        return left

    def largest() -> int:  # the largest M with P(X <= successes | M) > tail, by counting failures instead
        left, right = low, high
        while left < right:
            middle = (left + right + 1) // 2
            if _hypergeometric_tail(population_size, population_size - middle, n, n - successes) > tail:
                left = middle
            else:
                right = middle - 1
        return left

    return Interval(smallest() / population_size, largest() / population_size)


@dataclass(frozen=True)
class ExactInterval:
    """The exact interval of a simple random sample: binomial with replacement, hypergeometric without."""

    correct: int
    """Correct predictions among the draws."""
    n: int
    """Draws."""
    population_size: int | None
    """N for draws without replacement, None with replacement."""

    @property
    def name(self) -> str:
        """Short name for reports."""
        return "exact"

    def at(self, level: float) -> Interval:
        """The interval of accuracy at a confidence level."""
        if self.population_size is None:
            return clopper_pearson(self.correct, self.n, level)
        return hypergeometric(self.correct, self.n, self.population_size, level)


@dataclass(frozen=True)
class DesignInterval:
    """A Wilson-type interval from an estimated variance: effective sample size n_e = θ̂(1 - θ̂)/V̂.

    Known failures bound the accuracy from above and known correct cases from below, whatever the variance says; and
    without a single known failure (or correct case) the interval reaches up to 1 (down to 0).
    """

    value: float
    """Estimated accuracy; may lie outside [0, 1], the interval does not."""
    variance: float
    """V̂; 0 when no draw told of any variation."""
    n: int
    """Draws: the effective size where θ̂ or V̂ leave it undefined."""
    floor: float | None = None
    """Share of the population known to be correct; None leaves it out of the interval."""
    ceiling: float | None = None
    """1 - share of the population known to fail; None likewise."""
    freedom: float = math.inf
    """Degrees of freedom of V̂; infinite takes it as known."""

    @property
    def name(self) -> str:
        """Short name for reports."""
        return "design"

    def at(self, level: float) -> Interval:
        """The interval of accuracy at a confidence level."""
        floor, ceiling = self.floor or 0.0, 1.0 if self.ceiling is None else self.ceiling
        inside = min(max(self.value, floor), ceiling)
        spread = max(inside * (1 - inside), 0.0)
        size = spread / self.variance if self.variance > 0 and spread > 0 else float(self.n)
        interval = wilson(inside, size, level, self.freedom)
        low = min(max(interval.low, floor), ceiling) if self.floor != 0 else 0.0
        high = max(min(interval.high, ceiling), low) if self.ceiling != 1 else 1.0
        return Interval(low, high)
