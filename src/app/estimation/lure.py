"""LURE: draws by predicted failure probability, with a low-variance unbiased correction."""

from __future__ import annotations

import math

import numpy as np

from app.estimation.draws import mixture_draws
from app.estimation.estimate import Estimate, Trace
from app.estimation.intervals import DesignInterval
from app.estimation.oracle import Oracle
from app.estimation.population import Population
from app.estimation.prior import checked_range, prior_failure
from app.estimation.stopping import check_target_width, honest_interval
from app.estimation.weighted import label_draws, lure_weights, variance_of_mean


class LURE:
    """Active testing (Kossen, Farquhar, Gal & Rainforth, ICML 2021) with p̂ = 1 - confidence as acquisition.

    Draws without replacement with q ∝ p̂^a, mixed with uniform ones. The estimate of the failure rate is the population
    mean of the control variate c plus (1/n) Σ v_m (y_m - c_m), v_m = 1 + (N - n)/(N - m) · (1/((N - m + 1) q_m) - 1).

    Args:
        variable: Column p̂ comes from; see `prior_failure`.
        power: a; 1/2 is near the smallest variance for rare failures, 1 finds more of them.
        control: Whether c = p̂ (else 0).
        uniform_share: Probability of a uniform draw, which bounds the correction weights.
        smoothing: How much of p̂ is replaced by its mean before drawing: how far confidence is mistrusted.
        target_width: Stop as soon as the always-valid 95 % interval is at most this wide; None spends the budget.
        wave: Labels asked for at once while a target width is set.
    """

    def __init__(
        self,
        variable: str = "confidence",
        *,
        power: float = 0.5,
        control: bool = True,
        uniform_share: float = 0.1,
        smoothing: float = 0.1,
        target_width: float | None = None,
        wave: int = 20,
    ) -> None:
        if not 0 < uniform_share <= 1:
            raise ValueError(
                f"uniform_share lies above 0 and up to 1, not {uniform_share}: 0 would not be unbiased"
            )
        self.variable = variable
        self.power = checked_range("power", power, 0.0, 4.0)
        self.control = control
        self.smoothing = checked_range("smoothing", smoothing, 0.0, 1.0)
        self.uniform_share = uniform_share
        self.target_width, self.wave = check_target_width(target_width, wave)
        self.name = "lure"

    def run(self, population: Population, oracle: Oracle, budget: int, rng: np.random.Generator) -> Estimate:
        """The estimate from at most `budget` labels."""
        n, size = population.check_budget(budget), population.size
        belief = prior_failure(population, self.variable)
        weights = (belief + self.smoothing * (belief.mean() - belief)) ** self.power
        controls = belief if self.control else np.zeros(size)
        prior = min(max(float(belief.mean()), 1e-3), 1 - 1e-3)
        draws = mixture_draws(weights, 1 - self.uniform_share, n, rng)
        labels = label_draws(
            draws, weights, controls, oracle, target_width=self.target_width, wave=self.wave, prior=prior
        )
        z = labels.estimates
        count = len(z)
        correction = lure_weights(count, size)
        mean = float((correction * z).sum())
        variance = variance_of_mean(correction * count * (z - mean), 0.0)
        outcomes = labels.ledger.outcomes
        found = np.cumsum(outcomes)
        spent = np.arange(1, count + 1, dtype=np.int64)
        if found[-1] == 0:  # no draw disagreed with the belief: its own variance stands in
            variance = max(variance, float((belief * (1 - belief)).mean()) / count)
        notes = (
            ("every case has the same belief: the draws were simple random ones",)
            if np.ptp(belief) == 0
            else ()
        )
        # Σ_{m≤k} ω_m z_m with the weights of a sample of k: the same sum up to the factor (N - k)/k.
        total = float(size)
        partial = np.cumsum(z * total / ((total - spent) * (total - spent + 1)))
        return Estimate(
            self.name,
            size,
            1 - mean,
            math.sqrt(variance),
            labels.ledger.cases,
            labels.ledger.reasons,
            outcomes == 1,
            Trace(spent, 1 - partial * (total - spent) / spent, found.astype(np.int64)),
            interval_method=honest_interval(
                self.target_width,
                labels.bets,
                DesignInterval(1 - mean, variance, count, (count - found[-1]) / size, 1 - found[-1] / size),
            ),
            bets=labels.bets,
            notes=notes,
        )
