"""Fixed-sample intervals of an accuracy: exact, and Wilson-type from a design variance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from app.stats import Interval
from app.stats.proportions import clopper_pearson, finite_population, wilson


class IntervalMethod(Protocol):
    """How an estimator turns its estimate into an interval."""

    @property
    def name(self) -> str:
        """Short name for reports."""
        ...

    def at(self, level: float) -> Interval:
        """The interval of accuracy at a confidence level."""
        ...


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
        return finite_population(self.correct, self.n, self.population_size, level)


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
        if (
            math.isnan(inside) or size == 0
        ):  # no estimate, or one that says nothing: only what is known remains
            return Interval(floor, ceiling, level)
        interval = wilson(inside * size, size, level, self.freedom)
        low = min(max(interval.low, floor), ceiling) if self.floor != 0 else 0.0
        high = max(min(interval.high, ceiling), low) if self.ceiling != 1 else 1.0
        return Interval(low, high, level)
