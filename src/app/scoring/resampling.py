"""Bootstrap over test cases: how much a score would differ on another suite of the same size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.scoring.discordance import Discordance
from app.scoring.intervals import UNKNOWN, Interval
from app.scoring.paired import measure
from app.scoring.verdict import Rule, decide

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Difference:
    """One score against another."""

    value: float
    """First minus second."""
    ci: Interval
    """Its bootstrap interval."""
    p_value: float
    """Two-sided bootstrap p that they are equal."""


def case_weights(cases: int, resamples: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """(B, N): how often each of N test cases is drawn in each of B resamples of N cases with replacement."""
    weights = np.zeros((resamples, cases), dtype=np.uint8)
    if cases:
        for row in weights:
            row[:] = np.bincount(rng.integers(cases, size=cases), minlength=cases)
    return weights


def killed_draws(discordance: Discordance, weights: NDArray[np.uint8], rule: Rule) -> Flags:
    """(B, M): which scored mutants the rule kills on each resample.

    Each resample repeats the tests and the adjustment over the mutants. Kept fixed: the model's and the
    mutants' outcomes on each test case, which mutants there are, and which of them are scored.
    """
    return decide(measure(discordance, weights, rule.p0), rule).killed


def draws_interval(value: float, draws: Floats, level: float) -> Interval:
    """Percentile interval of a score from its bootstrap draws (Efron and Tibshirani, 1993, chapter 13).

    Widened to hold the score itself: the draws see the noise of the suite twice, so that many mutants at the
    border of significance can move all of them to one side. In simulation (40 mutants, 150 to 600 cases,
    weak, strong and mixed) it held the expected score in 90 to 100 % of suites at level .95; basic and
    centred intervals in 4 to 100 %.
    """
    if not draws.size or np.isnan(value):
        return UNKNOWN
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return Interval(min(float(low), value), max(float(high), value))


def difference(
    first: float, second: float, first_draws: Floats, second_draws: Floats, level: float
) -> Difference:
    """Paired bootstrap of the difference of two scores, whose draws come from the same weights.

    p is the share of centred draws at least as far from 0 as the difference, with the difference itself
    counted (Efron and Tibshirani, 1993, section 16.4), so never 0; 1 for equal scores.
    """
    value, draws = first - second, first_draws - second_draws
    if not draws.size or np.isnan(value):
        return Difference(float("nan"), UNKNOWN, float("nan"))
    far = int((np.abs(draws - draws.mean()) >= abs(value) - 1e-12).sum())
    return Difference(value, draws_interval(value, draws, level), (far + 1) / (draws.size + 1))
