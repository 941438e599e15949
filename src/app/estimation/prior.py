"""Beliefs in failure before any label."""

from __future__ import annotations

import numpy as np

from app.errors import UserError
from app.estimation.population import FloatArray, Population


def prior_failure(population: Population, variable: str = "confidence") -> FloatArray:
    """(N,) probability of failure before any label.

    1 - confidence for `confidence` and `combined`; another column is taken as it is.

    Raises:
        UserError: there is no such column, or it holds values outside [0, 1].
    """
    column = population.column(variable)
    outside = np.flatnonzero((column < 0) | (column > 1))
    if len(outside):
        raise UserError(
            f"population {population.name!r}: column {variable!r} cannot be a failure probability,"
            f" row {outside[0]} holds {column[outside[0]]:g}; allowed is 0 to 1"
        )
    return 1 - column if variable in ("confidence", "combined") else column


def checked_range(name: str, value: float, low: float, high: float) -> float:
    """The value itself, if low ≤ value ≤ high.

    Raises:
        ValueError: otherwise.
    """
    if not low <= value <= high:
        raise ValueError(f"{name} lies between {low:g} and {high:g}, not {value}")
    return value
