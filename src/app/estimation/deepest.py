"""DeepEST: draws that look for failures, corrected so that the estimate stays unbiased."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

import numpy as np

from app.estimation.draws import mixture_draws
from app.estimation.estimate import Estimate, Trace
from app.estimation.intervals import DesignInterval
from app.estimation.oracle import Oracle
from app.estimation.population import FloatArray, Population
from app.estimation.stopping import check_target_width, honest_interval
from app.estimation.surprise import combined
from app.estimation.weighted import label_draws, variance_of_mean

_LOW_CONFIDENCE = 1 - 0.7
"""Belief in failure above which a weight is live, for confidence and combined (Guerriero et al. 2021, §IV)."""


class DeepEST:
    """The adaptive design of Guerriero, Pietrantuono & Russo (ICSE 2021), O(N).

    The first case is drawn uniformly; then with probability d by weight, else uniformly, among the cases left.
    Weights are x if x > τ, else 0, with x the belief in failure: 1 - confidence, DSA, LSA, or 1 - combined.
    The estimate is the mean of z_1 = y_1, z_k = (Σ_{j<k} y_j + y_k/q_k)/N (Des Raj 1956), unbiased. Its interval
    relies on a variance of few and very unequal terms: where failures hide outside the weights, it covers less often
    than it says.

    Args:
        variable: `confidence`, `dsa`, `lsa`, `combined`, or any other column (taken as belief in failure).
        tau: τ, or a τ for each population by its name. Where none is given: 0.3 for confidence and combined, mean +
            variance for LSA, mean + 2 standard deviations for any other.
        weighted_share: d.
        variance_centre: `mean` subtracts the mean of z, `first` z_1 as the original program does.
        target_width: Stop as soon as the always-valid 95 % interval is at most this wide; None spends the budget.
        wave: Labels asked for at once while a target width is set.
    """

    def __init__(
        self,
        variable: str = "confidence",
        *,
        tau: float | Mapping[str, float] | None = None,
        weighted_share: float = 0.8,
        variance_centre: Literal["mean", "first"] = "mean",
        target_width: float | None = None,
        wave: int = 20,
    ) -> None:
        if not 0 <= weighted_share < 1:
            raise ValueError(
                f"weighted_share is the probability of drawing by weight, from 0 to below 1, not {weighted_share}:"
                " at 1, cases without weight could never be drawn and the estimate would be biased"
            )
        if variance_centre not in ("mean", "first"):
            raise ValueError(f"variance_centre is 'mean' or 'first', not {variance_centre!r}")
        given = tau if isinstance(tau, Mapping) else {"tau": tau}
        for where, value in given.items():
            if value is not None and not math.isfinite(value):
                raise ValueError(f"tau is a finite number or null, not {value} ({where})")
        self.variable = variable
        self.tau = tau
        self.weighted_share = weighted_share
        self.variance_centre = variance_centre
        self.target_width, self.wave = check_target_width(target_width, wave)
        short = {"confidence": "cs", "combined": "c"}.get(variable, variable)
        self.name = f"deepest_{short}"

    def _belief(self, population: Population) -> FloatArray:
        if self.variable == "combined" and not population.has("combined"):
            return 1 - combined(population.column("confidence"), population.column("dsa"))
        column = population.column(self.variable)
        return 1 - column if self.variable in ("confidence", "combined") else column

    def threshold(self, population: Population) -> float:
        """τ for a population: the one given, or by the rule of the variable."""
        tau = self.tau.get(population.name) if isinstance(self.tau, Mapping) else self.tau
        return self._rule(self._belief(population)) if tau is None else float(tau)

    def _rule(self, belief: FloatArray) -> float:
        if self.variable in ("confidence", "combined"):
            return _LOW_CONFIDENCE
        if self.variable == "lsa":
            return float(belief.mean() + belief.var(ddof=1))
        return float(belief.mean() + 2 * belief.std(ddof=1))

    def run(self, population: Population, oracle: Oracle, budget: int, rng: np.random.Generator) -> Estimate:
        """The estimate from at most `budget` labels."""
        n, size = population.check_budget(budget), population.size
        belief = self._belief(population)
        tau = self.threshold(population)
        weights = np.where((belief > tau) & (belief > 0), belief, 0.0)
        live = int((weights > 0).sum())
        notes = ["the interval covers less often than its level where failures lie outside the weights"]
        if live == 0:
            notes = [f"no case has {self.variable} beyond τ = {tau:.6g}: the draws were simple random ones"]
        elif live < n * self.weighted_share:
            notes.append(
                f"only {live} cases have a weight (τ = {tau:.6g}): draws after they ran out were uniform"
            )
        draws = mixture_draws(weights, self.weighted_share, n, rng, uniform_first=True)
        labels = label_draws(
            draws, weights, np.zeros(size), oracle, target_width=self.target_width, wave=self.wave, prior=0.5
        )
        z = labels.estimates
        mean = float(z.mean())
        centre = mean if self.variance_centre == "mean" else float(z[0])
        variance = variance_of_mean(z, centre)
        outcomes = labels.ledger.outcomes
        found = np.cumsum(outcomes)
        spent = np.arange(1, len(z) + 1, dtype=np.int64)
        return Estimate(
            self.name,
            size,
            1 - mean,
            math.sqrt(variance),
            labels.ledger.cases,
            labels.ledger.reasons,
            outcomes == 1,
            Trace(spent, 1 - np.cumsum(z) / spent, found.astype(np.int64)),
            interval_method=honest_interval(
                self.target_width,
                labels.bets,
                DesignInterval(1 - mean, variance, len(z), (len(z) - found[-1]) / size, 1 - found[-1] / size),
            ),
            bets=labels.bets,
            notes=tuple(notes),
        )
