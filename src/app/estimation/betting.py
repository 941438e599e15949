"""Always-valid confidence sequences by betting, for cases drawn one by one with known conditional probabilities.

Each draw gives Z_t, whose mean given the past is the failure rate f whatever was drawn before: for case i drawn with
probability q, Z = (Σ known failures + Σ_left c + (y_i - c_i)/q)/N with any control variate c fixed before the label.
A gambler who bets λ_t on "f is above m" (below, for λ < 0) has capital Π(1 + λ_t(Z_t - m)), a martingale if f = m; by
Ville's inequality it passes 1/α with probability at most α, ever (Waudby-Smith & Ramdas 2024; Shekhar, Xu, Lipton,
Liang & Ramdas 2023, arXiv 2305.06884, for weights and control variates without replacement).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.estimation.draws import SequentialDraws
from app.estimation.intervals import Interval, check_level
from app.estimation.population import BoolArray, FloatArray

_GRID = 2001
"""Candidate failure rates; spaced like sin², finest near 0 and 1. An interval is widened by one step on both sides."""
_CAUTION = 0.75
"""Largest share of the capital at stake in one draw."""
_BLOCKS = 16
"""How often in a wave the range of Z is computed anew: it only shrinks, so an older one is valid, just wider."""


@dataclass(frozen=True)
class BettingRecord:
    """The draws of one run as bets on the failure rate."""

    estimates: FloatArray
    """(T,) Z_t, each unbiased for the failure rate given the past."""
    lows: FloatArray
    """(T,) smallest value Z_t could have taken, known before the draw."""
    highs: FloatArray
    """(T,) largest one."""
    is_bet: BoolArray
    """(T,) false where a case was taken for certain: no randomness, nothing to bet on."""
    known_low: FloatArray
    """(T,) share of the population known to fail after each draw."""
    known_high: FloatArray
    """(T,) 1 - share known to be correct after each draw."""
    prior: float = 0.5
    """Guess of the failure rate before any label; a bad one widens the sequence, never invalidates it."""

    def sequence(self, level: float = 0.95) -> tuple[Interval, ...]:
        """The intervals of accuracy after each draw; each lies inside the one before.

        Bets are the approximate growth-optimal ones (aGRAPA), cut so that capital stays positive.

        Args:
            level: Probability that all of them cover.
        """
        limit = -np.log(1 - check_level(level))
        rates = np.sin(np.linspace(0.0, np.pi / 2, _GRID)) ** 2
        log_capital = np.zeros(_GRID)
        alive = np.ones(_GRID, dtype=np.bool_)
        mean, variance, count = self.prior, max(self.prior * (1 - self.prior), 1e-4), 1.0
        total, squares = mean, variance
        low, high = 0.0, 1.0
        intervals = []
        for t in range(len(self.estimates)):
            if self.is_bet[t]:
                bottom, top, value = float(self.lows[t]), float(self.highs[t]), float(self.estimates[t])
                edge = mean - rates
                stake = edge / (variance + edge * edge)
                floor = -_CAUTION / np.maximum(top - rates, 1e-12)
                ceiling = _CAUTION / np.maximum(rates - bottom, 1e-12)
                log_capital += np.log1p(np.clip(stake, floor, ceiling) * (value - rates))
                alive &= (log_capital < limit) & (rates >= bottom - 1e-12) & (rates <= top + 1e-12)
                count += 1
                total += value
                squares += (value - mean) ** 2
                mean = min(max(total / count, 0.0), 1.0)
                variance = squares / count
            kept = np.flatnonzero(alive)
            if len(kept):
                low = max(low, float(rates[max(kept[0] - 1, 0)]))
                high = min(high, float(rates[min(kept[-1] + 1, _GRID - 1)]))
            low, high = max(low, float(self.known_low[t])), min(high, float(self.known_high[t]))
            # After a miss nothing may be left: then the interval shrinks to a point and stays.
            low, high = min(low, high), max(low, high)
            intervals.append(Interval(1 - high, 1 - low))
        return tuple(intervals)

    def width(self, level: float = 0.95) -> float:
        """The width of the last interval; 1 before any draw."""
        return self.sequence(level)[-1].width if len(self.estimates) else 1.0

    def then(self, later: BettingRecord) -> BettingRecord:
        """These bets followed by later ones."""
        return BettingRecord(
            np.concatenate([self.estimates, later.estimates]),
            np.concatenate([self.lows, later.lows]),
            np.concatenate([self.highs, later.highs]),
            np.concatenate([self.is_bet, later.is_bet]),
            np.concatenate([self.known_low, later.known_low]),
            np.concatenate([self.known_high, later.known_high]),
            self.prior,
        )


@dataclass(frozen=True)
class SequenceInterval:
    """The last interval of the always-valid sequence: honest however the number of labels was chosen."""

    record: BettingRecord
    """The draws as bets."""

    @property
    def name(self) -> str:
        """Short name for reports."""
        return "always valid"

    def at(self, level: float) -> Interval:
        """The interval of accuracy at a confidence level."""
        return self.record.sequence(level)[-1]


def _known(
    outcomes: FloatArray, failures: float, correct: float, total: int
) -> tuple[FloatArray, FloatArray]:
    """Bounds of the failure rate that the labels alone imply, after each draw."""
    return (failures + np.cumsum(outcomes)) / total, 1 - (correct + np.cumsum(1 - outcomes)) / total


def certain_bets(
    outcomes: FloatArray, total: int, failures_before: float, correct_before: float, prior: float
) -> BettingRecord:
    """The record of cases that were taken for certain: known, but no bets."""
    nothing = np.zeros(len(outcomes))
    known = _known(outcomes, failures_before, correct_before, total)
    return BettingRecord(nothing, nothing, nothing, np.zeros(len(outcomes), dtype=np.bool_), *known, prior)


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
) -> BettingRecord:
    """The record of one wave of sequential draws.

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
    return BettingRecord(estimates, base - down, base + up, everywhere, *known, prior)
