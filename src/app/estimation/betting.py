"""Cases drawn one by one with known conditional probabilities, as bets on the failure rate.

Each draw gives Z_t, whose mean given the past is the failure rate f whatever was drawn before: for case i drawn with
probability q, Z = (Σ known failures + Σ_left c + (y_i - c_i)/q)/N with any control variate c fixed before the label
(Shekhar, Xu, Lipton, Liang & Ramdas 2023, arXiv 2305.06884). `stats.confidence_sequences` makes intervals of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.estimation.draws import SequentialDraws
from app.estimation.population import FloatArray
from app.stats import Interval
from app.stats.confidence_sequences import Bets

_BLOCKS = 16
"""How often in a wave the range of Z is computed anew: it only shrinks, so an older one is valid, just wider."""


@dataclass(frozen=True)
class SequenceInterval:
    """The last interval of the always-valid sequence: honest however the number of labels was chosen."""

    bets: Bets
    """The draws as bets."""

    @property
    def name(self) -> str:
        """Short name for reports."""
        return "always valid"

    def at(self, level: float) -> Interval:
        """The interval of accuracy at a confidence level."""
        return self.bets.confidence_sequence(level)[-1].complement


def _known(
    outcomes: FloatArray, failures: float, correct: float, total: int
) -> tuple[FloatArray, FloatArray]:
    """Bounds of the failure rate that the labels alone imply, after each draw."""
    return (failures + np.cumsum(outcomes)) / total, 1 - (correct + np.cumsum(1 - outcomes)) / total


def certain_bets(
    outcomes: FloatArray, total: int, failures_before: float, correct_before: float, prior: float
) -> Bets:
    """The bets of cases that were taken for certain: known, but no bets."""
    nothing = np.zeros(len(outcomes))
    known = _known(outcomes, failures_before, correct_before, total)
    return Bets(nothing, nothing, nothing, np.zeros(len(outcomes), dtype=np.bool_), *known, prior)


def drawn_bets(
    draws: SequentialDraws,
    outcomes: FloatArray,
    weights: FloatArray,
    controls: FloatArray,
    *,
    total: int,
    failures_before: float = 0.0,
    correct_before: float = 0.0,
    prior: float = 0.5,
) -> Bets:
    """The bets of one wave of sequential draws.

    Args:
        draws: n draws out of M cases.
        outcomes: (n,) 1 for a failure.
        weights: (M,) the weights they were drawn with.
        controls: (M,) control variate in [0, 1], fixed before the labels of the wave; zeros for none.
        total: N ≥ M, size of the whole population; the others are known.
        failures_before: Known failures outside the M cases.
        correct_before: Known correct ones.
        prior: Guess of the failure rate of the population.
    """
    size, cases = len(draws.cases), draws.cases
    drawn_controls = controls[cases]
    found = failures_before + np.cumsum(outcomes) - outcomes
    base = (found + controls.sum() - (np.cumsum(drawn_controls) - drawn_controls)) / total
    estimates = base + (outcomes - drawn_controls) / (draws.q * total)
    down, up = np.empty(size), np.empty(size)
    left = np.ones(len(weights), dtype=np.bool_)
    block = max(1, size // _BLOCKS)
    start = 0
    while start < size:
        stop = min(start + block, size)
        changed = np.flatnonzero(draws.share[start:stop] != draws.share[start])
        stop = start + int(changed[0]) if len(changed) else stop
        share, c = float(draws.share[start]), controls[left]
        chance = share * weights[left] / max(float(draws.weight_left[start]), 1e-300)
        inverse = 1 / (chance + (1 - share) / (len(weights) - start))
        down[start:stop] = (c * inverse).max() / total
        up[start:stop] = ((1 - c) * inverse).max() / total
        left[cases[start:stop]] = False
        start = stop
    known = _known(outcomes, failures_before, correct_before, total)
    everywhere = np.ones(size, dtype=np.bool_)
    return Bets(estimates, base - down, base + up, everywhere, *known, prior)
