"""What a confidence interval is: two ends and a level."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def check_level(level: float) -> float:
    """The level itself, if it lies strictly between 0 and 1.

    Raises:
        ValueError: otherwise.
    """
    if not 0 < level < 1:
        raise ValueError(f"a confidence level lies between 0 and 1 (like 0.95), not {level}")
    return level


@dataclass(frozen=True)
class Interval:
    """A confidence interval, ends included, in the unit of what it is of.

    Raises:
        ValueError: the ends are the wrong way round, or the level is not in (0, 1).
    """

    low: float
    """Lower end; NaN where there was nothing to measure."""
    high: float
    """Upper end; NaN where there was nothing to measure."""
    level: float = 0.95
    """Probability with which such intervals cover."""

    def __post_init__(self) -> None:
        check_level(self.level)
        if self.low > self.high:
            raise ValueError(f"an interval goes from its low to its high end, not {self.low} to {self.high}")

    @classmethod
    def unknown(cls, level: float = 0.95) -> Interval:
        """The interval of something that was not measured: NaN ends."""
        return cls(math.nan, math.nan, level)

    @property
    def known(self) -> bool:
        """Whether something was measured."""
        return not (math.isnan(self.low) or math.isnan(self.high))

    @property
    def ends(self) -> tuple[float, float] | None:
        """Both ends; None where nothing was measured."""
        return (self.low, self.high) if self.known else None

    @property
    def width(self) -> float:
        """How far apart the ends are; NaN if unknown."""
        return self.high - self.low

    @property
    def complement(self) -> Interval:
        """The interval of one minus the number: of the accuracy from that of the failure rate."""
        return Interval(1 - self.high, 1 - self.low, self.level)

    def covers(self, value: float) -> bool:
        """Whether a value lies inside, ends included; never if unknown."""
        return bool(self.low <= value <= self.high)

    def __contains__(self, value: float) -> bool:
        """The same as `covers`, for `value in interval`."""
        return self.covers(value)


@dataclass(frozen=True)
class Intervals:
    """Intervals of M quantities at one level."""

    low: Floats
    """(M,): lower ends; NaN where there was nothing to measure."""
    high: Floats
    """(M,): upper ends."""
    level: float = 0.95
    """Probability with which such intervals cover."""

    def __getitem__(self, index: int) -> Interval:
        """The interval of one quantity."""
        return Interval(float(self.low[index]), float(self.high[index]), self.level)
