"""Simple random sampling, with and without replacement, and its model-assisted estimate."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from app.estimation.estimate import Estimate, Trace
from app.estimation.intervals import DesignInterval, ExactInterval
from app.estimation.oracle import Ledger, Oracle, Reason
from app.estimation.population import FloatArray, IntArray, Population
from app.estimation.prior import prior_failure
from app.estimation.stopping import check_target_width, honest_interval, stops
from app.stats.confidence_sequences import Bets


def _running(outcomes: FloatArray) -> Trace:
    """The sample mean after every draw."""
    labels = np.arange(1, len(outcomes) + 1, dtype=np.int64)
    found = np.cumsum(outcomes)
    return Trace(labels, 1 - found / labels, found.astype(np.int64))


class SRSWR:
    """Simple random sampling with replacement: the mean of the sample, variance p(1 - p)/n, exact binomial interval.

    A case drawn twice is labelled once.
    """

    name = "srswr"

    def run(self, population: Population, oracle: Oracle, budget: int, rng: np.random.Generator) -> Estimate:
        """The estimate from `budget` draws."""
        n = population.check_budget(budget)
        ledger = Ledger(oracle, population.size)
        outcomes = ledger.ask(rng.integers(population.size, size=n), Reason.UNIFORM)
        value = 1 - float(outcomes.mean())
        return Estimate(
            self.name,
            population.size,
            value,
            math.sqrt(value * (1 - value) / n),
            ledger.cases,
            ledger.reasons,
            outcomes == 1,
            _running(outcomes),
            interval_method=ExactInterval(n - int(outcomes.sum()), n, None),
        )


def simple_bets(outcomes: FloatArray, total: int) -> Bets:
    """The bets of a simple random sample without replacement: Z = (known failures + y·left)/N."""
    found = np.cumsum(outcomes) - outcomes
    left = total - np.arange(len(outcomes))
    low = found / total
    everywhere = np.ones(len(outcomes), dtype=np.bool_)
    known_low = np.cumsum(outcomes) / total
    known_high = 1 - np.cumsum(1 - outcomes) / total
    return Bets(low + outcomes * left / total, low, low + left / total, everywhere, known_low, known_high)


class SRSWOR:
    """Simple random sampling without replacement: the mean of the sample, exact hypergeometric interval.

    Variance p(1 - p)/n · (N - n)/(N - 1).

    Args:
        target_width: Stop as soon as the always-valid 95 % interval is at most this wide; None spends the budget.
        wave: Labels asked for at once while a target width is set.
    """

    name = "srswor"

    def __init__(self, target_width: float | None = None, wave: int = 20) -> None:
        self.target_width, self.wave = check_target_width(target_width, wave)

    def run(self, population: Population, oracle: Oracle, budget: int, rng: np.random.Generator) -> Estimate:
        """The estimate from at most `budget` labels."""
        size = population.size
        ledger = Ledger(oracle, size)
        drawn = rng.permutation(size)[: population.check_budget(budget)].astype(np.int64)
        step = len(drawn) if self.target_width is None else self.wave
        for start in range(0, len(drawn), step):
            ledger.ask(drawn[start : start + step], Reason.UNIFORM)
            if self.target_width and stops(self.target_width, simple_bets(ledger.outcomes, size)):
                break
        outcomes = ledger.outcomes
        n = len(outcomes)
        bets = partial(simple_bets, outcomes, size)
        value = 1 - float(outcomes.mean())
        return Estimate(
            self.name,
            size,
            value,
            math.sqrt(value * (1 - value) / n * (size - n) / (size - 1)),
            ledger.cases,
            ledger.reasons,
            outcomes == 1,
            _running(outcomes),
            interval_method=honest_interval(
                self.target_width, bets, ExactInterval(n - int(outcomes.sum()), n, size)
            ),
            bets=bets,
        )


class ModelAssistedSRS:
    """Simple random sampling without replacement with a prediction of every failure as control variate.

    θ̂ = 1 - (mean of λp̂ over the population + mean of y - λp̂ over the sample): the difference estimator (Särndal,
    Swensson & Wretman 1992, §6.3), which is prediction-powered inference (Angelopoulos et al. 2023) for a mean.

    Args:
        variable: Column the belief in failure comes from: `confidence` gives p̂ = 1 - confidence; any other
            column must hold failure probabilities in [0, 1].
        weight: λ; 1 trusts p̂ as it is, 0 is SRSWOR; None tunes it on the sample (PPI++, Angelopoulos, Duchi & Zrnic
            2023), which costs a small bias.
    """

    def __init__(self, variable: str = "confidence", weight: float | None = 1.0) -> None:
        if weight is not None and not 0 <= weight <= 1:
            raise ValueError(
                f"weight is the λ of the control variate, from 0 to 1, or null to tune it, not {weight}"
            )
        self.variable = variable
        self.weight = weight
        self.name = "model_assisted" if weight is not None else "model_assisted_tuned"

    def run(self, population: Population, oracle: Oracle, budget: int, rng: np.random.Generator) -> Estimate:
        """The estimate from `budget` labels."""
        n, size = population.check_budget(budget), population.size
        belief = prior_failure(population, self.variable)
        ledger = Ledger(oracle, size)
        cases: IntArray = rng.permutation(size)[:n].astype(np.int64)
        outcomes = ledger.ask(cases, Reason.UNIFORM)
        seen = belief[cases]
        weight = self.weight
        if weight is None:
            spread = float(belief.var())
            covariance = float(((seen - seen.mean()) * (outcomes - outcomes.mean())).mean())
            weight = min(max(covariance / spread * (1 - n / size), 0.0), 1.0) if spread > 0 else 0.0
        residuals = outcomes - weight * seen
        failing = weight * float(belief.mean()) + float(residuals.mean())
        variance = float(residuals.var(ddof=1)) / n * (1 - n / size) if n > 1 else 0.0
        # Without one failure in the sample the residuals do not vary as the population does: the belief's own
        # variance stands in for them.
        variance = max(variance, float((belief * (1 - belief)).mean()) / n * (1 - n / size))
        found = np.cumsum(outcomes)
        labels = np.arange(1, n + 1, dtype=np.int64)
        running = 1 - weight * float(belief.mean()) - np.cumsum(residuals) / labels
        return Estimate(
            self.name,
            size,
            1 - failing,
            math.sqrt(variance),
            ledger.cases,
            ledger.reasons,
            outcomes == 1,
            Trace(labels, running, found.astype(np.int64)),
            unbiased=self.weight is not None,
            interval_method=DesignInterval(
                1 - failing, variance, n, (n - found[-1]) / size, 1 - found[-1] / size
            ),
            notes=() if self.weight is not None else ("λ was tuned on the sample: a small bias",),
        )
