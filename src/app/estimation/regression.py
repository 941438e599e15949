"""How failure depends on one auxiliary variable: a logistic curve with its AUC."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from app.estimation.leakage import auc
from app.estimation.population import BoolArray, FloatArray, Population

_RIDGE = 1e-6
"""Keeps the slope finite when a variable separates failures; too small to be seen otherwise."""
_STEPS = 100


@dataclass(frozen=True)
class FailureCurve:
    """Logistic regression of failure on one auxiliary variable: P(failure) = 1/(1 + e^-(a + b x))."""

    variable: str
    """Name of the column."""
    intercept: float
    """a."""
    slope: float
    """b, per unit of the variable."""
    auc: float
    """Probability that a failure has a larger value than a correct case; NaN if there is only one kind."""
    x: FloatArray
    """(101,) values from the smallest to the largest."""
    probability: FloatArray
    """(101,) fitted failure probability there."""
    bin_centres: FloatArray
    """(≤ 10,) mean value of equal-count groups of cases."""
    bin_rates: FloatArray
    """(≤ 10,) share of failures among them."""


def failure_curve(variable: str, values: FloatArray, failures: BoolArray) -> FailureCurve:
    """The logistic curve of failure over a variable, by maximum likelihood.

    A constant variable gives slope 0 and the failure rate everywhere.

    Args:
        variable: Its name.
        values: (N,) finite values, N ≥ 1.
        failures: (N,) outcomes.
    """
    centre, spread = float(values.mean()), float(values.std())
    scale = spread if spread > 0 else 1.0
    features = np.stack([np.ones(len(values)), (values - centre) / scale])
    beta = np.zeros(2)
    for _ in range(_STEPS):
        rate = expit(beta @ features)
        gradient = features @ (failures - rate) - _RIDGE * beta
        curvature = (features * (rate * (1 - rate))) @ features.T + _RIDGE * np.eye(2)
        step = np.linalg.solve(curvature, gradient)
        longest = float(np.abs(step).max())
        beta = beta + step * min(1.0, 2.0 / max(longest, 1e-12))
        if longest < 1e-9:
            break
    slope = float(beta[1]) / scale
    intercept = float(beta[0]) - slope * centre
    x = np.linspace(float(values.min()), float(values.max()), 101)
    groups = np.array_split(np.argsort(values, kind="stable"), min(10, len(values)))
    return FailureCurve(
        variable,
        intercept,
        slope,
        auc(values, failures),
        x,
        np.asarray(expit(intercept + slope * x)),
        np.array([values[group].mean() for group in groups]),
        np.array([failures[group].mean() for group in groups]),
    )


def failure_curves(population: Population, failures: BoolArray) -> tuple[FailureCurve, ...]:
    """The curves of all auxiliary variables of a population."""
    return tuple(failure_curve(name, values, failures) for name, values in population.columns.items())
