"""The places at which a series of numbers moved to another level and stayed there.

Penalised least squares: of all ways to cut the series into levels of at least `SHORTEST` runs, the one with the
smallest sum of squared deviations in units of the noise plus `PENALTY` a change, found exactly by dynamic programming
(Jackson et al. 2005, "An algorithm for optimal partitioning of data on an interval", IEEE Signal Processing Letters
12(2), eq. 3). The noise is taken from the differences of neighbours, which a few changes of level hardly touch.

Noise is taken to be independent from run to run and of one size. A slow drift comes out as a staircase; counts that
are mostly 0 are marked somewhat too readily in series of hundreds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

FEWEST = 8
"""Numbers that are needed: the noise of fewer cannot be told."""
SHORTEST = 3
"""Runs that a level lasts at least; what is gone after one or two runs is an outlier."""
PENALTY = 13.0
"""Cost of a change, in units of the noise's variance: in simulated normal noise of 8 to 500 numbers, 1 to 2 of 100
series without a change get a mark. A step of three times the noise is found (within a run of its place) in 3 of 10
series of 8 numbers, 9 of 10 of 20, and 97 of 100 of 60."""
CALM = 0.75
"""Share of the smallest differences of neighbours that the noise is taken from: so many may be between equal levels."""
OUTLIER = 4.0
"""A number so many times the noise away from its neighbourhood counts as the middle of that."""
ROUNDING = 1e-5
"""Relative difference that other devices and batch sizes make in equal numbers."""
_NORMAL = NormalDist()


@dataclass(frozen=True)
class Level:
    """Runs between two changes."""

    start: int
    """Place of the first of them in the series."""
    stop: int
    """Place behind the last of them."""
    mean: float
    """Their mean, outliers pulled in."""


@dataclass(frozen=True)
class ChangePoint:
    """A run at which a new level begins."""

    index: int
    """Its place in the series."""
    before: float
    """The level that ended."""
    after: float
    """The one that began."""

    @property
    def difference(self) -> float:
        """How far the level moved."""
        return self.after - self.before


@dataclass(frozen=True)
class Changes:
    """The levels of a series."""

    noise: float
    """Standard deviation from run to run about a level; NaN where too few numbers tell it."""
    levels: tuple[Level, ...]
    """From first to last, gaps counted to the level they lie in; one for a series without a change."""

    @property
    def points(self) -> tuple[ChangePoint, ...]:
        """The runs at which a new level begins."""
        return tuple(ChangePoint(new.start, old.mean, new.mean) for old, new in pairwise(self.levels))


def changes(values: ArrayLike) -> Changes:
    """The levels of a series, and the noise about them.

    Args:
        values: (T,) numbers in the order of time; NaN for a gap.
    """
    series = np.asarray(values, dtype=np.float64)
    places = np.flatnonzero(np.isfinite(series))
    if not places.size:
        return Changes(math.nan, ())
    numbers = series[places]
    if places.size < FEWEST:
        return Changes(math.nan, (Level(0, series.size, float(numbers.mean())),))
    sigma = noise(numbers)
    calm = _pulled_in(numbers, OUTLIER * sigma)
    starts = _segments(calm / sigma) if sigma > 0 else [0]
    stops = [*starts[1:], places.size]
    begin = [0, *(int(places[start]) for start in starts[1:])]
    return Changes(
        sigma,
        tuple(
            Level(first, last, float(calm[start:stop].mean()))
            for first, last, start, stop in zip(begin, [*begin[1:], series.size], starts, stops, strict=True)
        ),
    )


def noise(numbers: NDArray[np.float64]) -> float:
    """The standard deviation from run to run, whatever the levels; 0 for equal numbers.

    From the mean square of the calmest differences of neighbours, of which independent normal noise has a known share
    (the second moment of a truncated normal distribution). At least the rounding error of numbers on a grid as coarse
    as theirs, which speaks for counts and shares that mostly do not move, and of other devices.

    Args:
        numbers: (n,), at least two.
    """
    squares = np.sort(np.diff(numbers) ** 2)
    calm = squares[: math.ceil(CALM * squares.size)].mean()
    edge = _NORMAL.inv_cdf((1 + CALM) / 2)
    expected = 2 * (1 - 2 * edge * _NORMAL.pdf(edge) / CALM)
    steps = np.diff(np.unique(numbers))
    rounding = ROUNDING * float(np.median(np.abs(numbers)))
    steps = steps[steps > rounding]
    if not steps.size:
        return rounding if np.ptp(numbers) > 0 else 0.0
    return max(math.sqrt(calm / expected), float(steps.min()) / math.sqrt(12), rounding)


def _pulled_in(numbers: NDArray[np.float64], limit: float) -> NDArray[np.float64]:
    """Outliers replaced by the median of the five numbers around them; a level of three keeps its edges."""
    first = np.clip(np.arange(numbers.size) - 2, 0, numbers.size - 5)
    middles = np.median(numbers[first[:, None] + np.arange(5)], axis=1)
    return np.where(np.abs(numbers - middles) > limit, middles, numbers)


def _segments(numbers: NDArray[np.float64]) -> Sequence[int]:
    """Where the levels of the cheapest cut begin, 0 first; numbers in units of the noise.

    The squares of all numbers are part of every cut's cost: what is compared is the penalty minus what the means
    explain, (sum over a level)^2 / length.
    """
    n = numbers.size
    sums = np.concatenate(
        [[0.0], np.cumsum(numbers - numbers.mean())]
    )  # centred: the squares of sums stay small
    inverse = 1 / np.arange(n, 0, -1)
    best = np.full(n + 1, np.inf)
    best[0] = -PENALTY
    last = np.zeros(n + 1, dtype=np.intp)
    for stop in range(SHORTEST, n + 1):
        count = stop - SHORTEST + 1
        explained = sums[stop] - sums[:count]
        explained *= explained
        explained *= inverse[n - stop : n - stop + count]
        costs = best[:count] - explained
        last[stop] = costs.argmin()
        best[stop] = costs[last[stop]] + PENALTY
    found, stop = [], n
    while stop > 0:
        stop = int(last[stop])
        found.append(stop)
    return found[::-1]
