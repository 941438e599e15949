"""How far from 1 a row of probabilities may sum because its numbers were rounded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_HALF_PRECISION = 2e-2
"""In half precision, where sums of many numbers are off by more."""
_LEAST, _PER_CLASS = 5e-3, 1e-4
"""Of models that compute in low precision and hand over single precision: at least, and for each class."""
_STEPS = (
    *((10.0**-decimals, f"{decimals} decimals") for decimals in range(2, 7)),
    (1 / 255, "255 levels"),
    (1 / 256, "256 levels"),
)
"""Grids that printed and quantised probabilities lie on."""
_ON_GRID = 1e-7
_SAMPLE = 64
"""Rows that are looked at before all are."""
AS_IT_IS = 1e-3
"""Rows that sum to 1 within this are not looked at further."""
_MOST_LOST = 0.5
"""A row that lost more than half of its mass says too little."""


@dataclass(frozen=True)
class Slack:
    """The sums that rows of probabilities may have."""

    low: NDArray[np.float64]
    """(N,) smallest sum of each row."""
    high: NDArray[np.float64]
    """(N,) largest sum of each row."""
    grid: str = ""
    """What the numbers were rounded to, in words; empty where they were not."""

    def fits(self, sums: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(N,): whether each sum is one that rounding explains."""
        return np.asarray((sums >= self.low) & (sums <= self.high))


def slack(rows: NDArray[np.float64], half_precision: bool) -> Slack:
    """How far the sums of some rows may be off.

    Numbers rounded to a step u: of K classes each loses or gains up to u/2, so that a sum lies within K u/2 of 1; what
    is rounded up is about as often rounded down, so that sums above 1 are held to four standard deviations of that,
    while small probabilities that became 0 only lose.

    Args:
        rows: (N, K) in [0, 1].
        half_precision: whether they came in half precision.
    """
    classes = rows.shape[1]
    base = _HALF_PRECISION if half_precision else min(_HALF_PRECISION, max(_LEAST, _PER_CLASS * classes))
    low, high = np.full(len(rows), 1 - base), np.full(len(rows), 1 + base)
    sums = rows.sum(axis=1)
    if bool((np.abs(sums - 1) <= AS_IT_IS).all()):
        return Slack(low, high)
    step, grid = next((each for each in _STEPS if _on(rows, each[0])), (0.0, ""))
    if not grid:
        return Slack(low, high)
    filled = np.count_nonzero(rows, axis=1)
    most = np.minimum(filled * step / 2, 4 * step * np.sqrt(filled / 12) + step) - _ON_GRID
    return Slack(
        np.minimum(low, 1 - min(_MOST_LOST, classes * step / 2 - _ON_GRID)), np.maximum(high, 1 + most), grid
    )


def _on(rows: NDArray[np.float64], step: float) -> bool:
    return all(
        bool((np.abs(part - np.round(part / step) * step) <= _ON_GRID).all())
        for part in (rows[:_SAMPLE], rows)
    )
