"""Inclusion probabilities between the smallest variance and the most failures found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.estimation.population import BoolArray, FloatArray

_TILT = 0.5
"""Largest κ p̂ that raises a probability; beyond it a case is either worth taking for certain or not favoured more.
Without this cap the cases just below certainty take the labels that would have corrected a wrong model."""
_GROUPS = 100
"""The search for κ sees the cases of highest belief one by one and groups the others by log p̂."""
_TRIALS = 16
_REFINEMENTS = 3


@dataclass(frozen=True)
class Inclusion:
    """How likely each case is to be drawn in a wave."""

    probabilities: FloatArray
    """(N,) in (0, 1], summing to the budget."""
    certain: BoolArray
    """(N,) whether it is taken for sure."""
    kappa: float
    """Labels a failure found is worth; 0 is Neyman's allocation."""


def _scaled(
    scores: FloatArray, counts: FloatArray, certain: BoolArray, budget: float
) -> tuple[FloatArray, BoolArray]:
    """Probabilities ∝ scores, cut at 1, and 1 for the certain ones, for several sets of scores at once.

    Args:
        scores: (K, G) scores > 0.
        counts: (G,) cases with each score.
        certain: (K, G) which are 1 anyway.
        budget: What the probabilities of all cases sum to.

    Returns:
        (K, G) probabilities, and (K,) whether the certain ones left anything to draw; where not, they mean nothing.
    """
    fixed = certain.copy()
    weight = scores * counts
    while True:
        rest = budget - fixed @ counts
        open_weight = np.where(fixed, 0.0, weight).sum(axis=1)
        factor = np.maximum(rest, 0.0) / np.maximum(open_weight, 1e-300)
        scaled = scores * factor[:, None]
        over = ~fixed & (scaled > 1)
        if not over.any():
            return np.where(fixed, 1.0, scaled), rest > 0
        fixed |= over


def _scores(
    belief: FloatArray, variance: FloatArray, kappa: FloatArray | float
) -> tuple[FloatArray, BoolArray]:
    """√(ṽ/(1 - κ p̂)) with κ p̂ cut at the tilt, and which cases pay for their label."""
    worth = kappa * belief
    return np.sqrt(variance / (1 - np.minimum(worth, _TILT))), np.asarray(worth >= 1)


class _Groups:
    """Cases grouped to evaluate many κ at once: the likeliest failures one by one, the others by log p̂."""

    def __init__(self, belief: FloatArray, variance: FloatArray, budget: int) -> None:
        single = min(2 * budget, len(belief))
        order = np.argpartition(belief, len(belief) - single)
        top, others = order[len(belief) - single :], order[: len(belief) - single]
        self.counts, self.belief, self.variance = np.ones(single), belief[top], variance[top]
        if len(others):
            rest, spread = belief[others], variance[others]
            logs = np.log(rest)
            low, high = float(logs.min()), float(logs.max())
            code = ((logs - low) * ((_GROUPS - 1e-6) / max(high - low, 1e-12))).astype(np.intp)
            code = np.minimum(code, _GROUPS - 1)
            counts = np.bincount(code, minlength=_GROUPS).astype(np.float64)
            there = counts > 0
            counts = counts[there]
            self.counts = np.concatenate([self.counts, counts])
            means = np.bincount(code, rest, _GROUPS)[there] / counts
            self.belief = np.concatenate([self.belief, means])
            spreads = np.bincount(code, spread, _GROUPS)[there] / counts
            self.variance = np.concatenate([self.variance, spreads])
        self._budget = budget

    def predicted(self, kappas: FloatArray) -> FloatArray:
        """(K,) N² times the predicted variance of the wave; infinite where certain cases use up the budget."""
        scores, certain = _scores(self.belief, self.variance, kappas[:, None])
        scaled, possible = _scaled(scores, self.counts, certain, self._budget)
        total = (self.counts * self.variance * (1 / np.maximum(scaled, 1e-12) - 1)).sum(axis=1)
        return np.where(possible, total, np.inf)

    def largest_kappa(self, balance: float) -> float:
        """The largest κ up to which the predicted variance is within (1 + balance) of Neyman's."""
        limit = float(self.predicted(np.zeros(1))[0]) * (1 + balance)
        low, high = 0.01 / float(self.belief.max()), 1 / float(self.belief.min())
        for _ in range(_REFINEMENTS):
            kappas = np.geomspace(low, high, _TRIALS)
            too_much = np.flatnonzero(self.predicted(kappas) > limit)
            if not len(too_much):
                return high
            if too_much[0] == 0:
                return 0.0
            low, high = float(kappas[too_much[0] - 1]), float(kappas[too_much[0]])
        return low


def inclusion(belief: FloatArray, variance: FloatArray, budget: int, balance: float) -> Inclusion:
    """Inclusion probabilities of one wave.

    π minimises Σ ṽ/π for a sample of `budget` when each expected failure in it is worth κ labels:
    π ∝ √(ṽ/(1 - κ p̂)), the tilt capped; cases with κ p̂ ≥ 1 pay for their label and are taken for certain. κ is as
    large as leaves the predicted variance Σ ṽ(1/π - 1) within (1 + balance) of that of κ = 0.

    Args:
        belief: (N,) p̂ in (0, 1).
        variance: (N,) ṽ > 0, predicted variance of each outcome.
        budget: 1 ≤ budget ≤ N.
        balance: ≥ 0.
    """
    size = len(belief)
    if budget >= size:
        return Inclusion(np.ones(size), np.ones(size, dtype=np.bool_), 0.0)
    kappa = _Groups(belief, variance, budget).largest_kappa(balance) if balance > 0 else 0.0
    scores, certain = _scores(belief, variance, kappa)
    scaled, possible = _scaled(scores[None, :], np.ones(size), certain[None, :], budget)
    if not possible[0]:  # ties at the edge of certainty: no hunting in this wave
        kappa = 0.0
        scores, certain = _scores(belief, variance, kappa)
        scaled, _ = _scaled(scores[None, :], np.ones(size), certain[None, :], budget)
    return Inclusion(scaled[0], np.asarray(scaled[0] >= 1), kappa)
