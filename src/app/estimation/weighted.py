"""Draws one by one by weight and their labels: what DeepEST and LURE have in common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.estimation.betting import drawn_bets
from app.estimation.draws import SequentialDraws
from app.estimation.oracle import Ledger, Oracle, Reason
from app.estimation.population import FloatArray
from app.estimation.stopping import stops
from app.stats.confidence_sequences import Bets


@dataclass(frozen=True)
class WeightedLabels:
    """Labelled sequential draws."""

    ledger: Ledger
    """The labels."""
    draws: SequentialDraws
    """The draws that were labelled."""
    weights: FloatArray
    """(N,) the weights they were drawn with."""
    controls: FloatArray
    """(N,) control variate."""
    prior: float
    """Guess of the failure rate, for the bets."""

    @property
    def estimates(self) -> FloatArray:
        """(n,) Des Raj estimates of the failure rate, one a draw, each unbiased given the ones before.

        z_k = (Σ_{j<k} y_j + Σ_left c + (y_k - c_k)/q_k)/N.
        """
        outcomes, drawn = self.ledger.outcomes, self.controls[self.draws.cases]
        before = np.cumsum(outcomes - drawn) - (outcomes - drawn)
        total = len(self.weights)
        return np.asarray((before + self.controls.sum() + (outcomes - drawn) / self.draws.q) / total)

    def bets(self) -> Bets:
        """The draws as bets."""
        return drawn_bets(
            self.draws,
            self.ledger.outcomes,
            self.weights,
            self.controls,
            total=len(self.weights),
            prior=self.prior,
        )


def label_draws(
    draws: SequentialDraws,
    weights: FloatArray,
    controls: FloatArray,
    oracle: Oracle,
    *,
    target_width: float | None,
    wave: int,
    prior: float,
) -> WeightedLabels:
    """Labels of sequential draws: all at once, or in waves until the always-valid interval is narrow enough.

    Args:
        draws: What to label, in order.
        weights: (N,) weights they were drawn with.
        controls: (N,) control variate.
        oracle: Who knows.
        target_width: See `stops`.
        wave: Labels a wave while there is a target width.
        prior: Guess of the failure rate, for the bets.
    """
    ledger = Ledger(oracle, len(weights))
    size = len(draws.cases)
    step = size if target_width is None else wave
    labels = WeightedLabels(ledger, draws, weights, controls, prior)
    for start in range(0, size, step):
        stop = min(start + step, size)
        reasons = [Reason.WEIGHT if by else Reason.UNIFORM for by in draws.weighted[start:stop]]
        ledger.ask(draws.cases[start:stop], reasons)
        labels = WeightedLabels(ledger, draws.first(stop), weights, controls, prior)
        if target_width is not None and stops(target_width, labels.bets()):
            break
    return labels


def variance_of_mean(values: FloatArray, centre: float) -> float:
    """Σ(z - centre)²/(n(n - 1)); 0 for one value."""
    n = len(values)
    return float(((values - centre) ** 2).sum()) / (n * (n - 1)) if n > 1 else 0.0


def lure_weights(size: int, population_size: int) -> FloatArray:
    """(n,) weights of the Des Raj estimates whose sum is the LURE estimate (Farquhar, Gal & Rainforth 2021).

    (1/n) Σ v_m y_m with v_m = 1 + (N - n)/(N - m) · (1/((N - m + 1) q_m) - 1) equals Σ ω_m z_m with
    ω_m = N(N - n)/(n(N - m)(N - m + 1)); the ω sum to 1 and hardly differ while n is small beside N.
    """
    m = np.arange(1, size + 1, dtype=np.float64)
    total = float(population_size)
    return np.asarray(total * (total - size) / (size * (total - m) * (total - m + 1)), dtype=np.float64)
