"""Stratified sampling by confidence: CSS, and Neyman's allocation."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from app.estimation.estimate import Estimate, Trace
from app.estimation.intervals import DesignInterval
from app.estimation.oracle import Ledger, Oracle, Reason
from app.estimation.population import FloatArray, IntArray, Population
from app.estimation.prior import checked_range, prior_failure

_COVERAGE = (
    "the interval covers less often than its level where cases of high confidence fail more than they claim"
)


def allocate(shares: FloatArray, sizes: IntArray, budget: int) -> IntArray:
    """(H,) whole numbers of labels a stratum: near the shares, at least 1 and at most the stratum, `budget` in all.

    Args:
        shares: (H,) wanted shares ≥ 0; need not sum to 1.
        sizes: (H,) cases a stratum, all ≥ 1.
        budget: H ≤ budget ≤ Σ sizes.
    """
    floor = np.ones(len(sizes), dtype=np.int64)
    weights = np.where(shares > 0, shares, 1e-12)
    ideal = np.zeros(len(sizes))
    fixed = np.zeros(len(sizes), dtype=np.bool_)
    while not fixed.all():  # strata at a bound keep it, the others share what is left
        rest = budget - ideal[fixed].sum()
        trial = weights[~fixed] / weights[~fixed].sum() * rest
        bounded = np.clip(trial, floor[~fixed], sizes[~fixed])
        ideal[~fixed] = bounded
        excess = bounded.sum() - rest
        hit = (bounded > trial) if excess > 0 else (bounded < trial)
        if not hit.any():
            break
        fixed[np.flatnonzero(~fixed)[hit]] = True
    counts = np.clip(np.floor(ideal + 1e-9).astype(np.int64), floor, sizes)
    while counts.sum() < budget:
        short = np.where(counts < sizes, ideal - counts, -np.inf)
        counts[short.argmax()] += 1
    while counts.sum() > budget:
        over = np.where(counts > floor, counts - ideal, -np.inf)
        counts[over.argmax()] -= 1
    return counts


def _cut(order: IntArray, fractions: Sequence[float], budget: int) -> tuple[list[IntArray], bool]:
    """Strata along an order; neighbours are merged where there are more strata than labels or a stratum is empty."""
    edges = np.round(np.cumsum(fractions) / np.sum(fractions) * len(order)).astype(np.int64)
    strata = [part for part in np.split(order, edges[:-1]) if len(part)]
    merged = False
    while len(strata) > budget:
        merged = True
        smallest = min(range(len(strata) - 1), key=lambda i: len(strata[i]) + len(strata[i + 1]))
        strata[smallest : smallest + 2] = [np.concatenate(strata[smallest : smallest + 2])]
    return strata, merged


def _stratified(
    name: str,
    population: Population,
    oracle: Oracle,
    rng: np.random.Generator,
    *,
    strata: list[IntArray],
    counts: IntArray,
    belief: FloatArray,
    notes: tuple[str, ...],
) -> Estimate:
    """Labels every stratum and adds up Σ W_h ȳ_h."""
    size = population.size
    ledger = Ledger(oracle, size)
    drawn = [rng.permutation(part)[:count] for part, count in zip(strata, counts, strict=True)]
    outcomes = ledger.ask(np.concatenate(drawn), Reason.STRATUM)
    failing = variance = 0.0
    for part, seen in zip(strata, np.split(outcomes, np.cumsum(counts)[:-1]), strict=True):
        weight, n = len(part) / size, len(seen)
        failing += weight * float(seen.mean())
        # A stratum without failures in its sample still has some: one pseudo-case at the believed rate.
        rate = (float(seen.sum()) + float(belief[part].mean())) / (n + 1)
        variance += weight**2 * rate * (1 - rate) / n * (1 - n / len(part))
    n, found = len(outcomes), int(outcomes.sum())
    return Estimate(
        name,
        size,
        1 - failing,
        math.sqrt(variance),
        ledger.cases,
        ledger.reasons,
        outcomes == 1,
        Trace(np.array([n]), np.array([1 - failing]), np.array([found])),
        interval_method=DesignInterval(1 - failing, variance, n, (n - found) / size, 1 - found / size),
        notes=(*notes, _COVERAGE),
    )


class CSS:
    """Confidence-based stratified sampling (Li et al., ESEC/FSE 2019): Σ W_h ȳ_h.

    By default the paper's three strata: the tenth of lowest confidence, the next tenth, the rest, with 40, 40 and
    20 % of the labels.

    Args:
        variable: Column the strata are cut along, ascending.
        strata: Share of the population in each stratum, lowest values first; sum 1.
        allocation: Share of the labels for each stratum, sum 1; None is proportional to its size.
    """

    def __init__(
        self,
        variable: str = "confidence",
        strata: Sequence[float] = (0.1, 0.1, 0.8),
        allocation: Sequence[float] | None = (0.4, 0.4, 0.2),
    ) -> None:
        for label, shares in (("strata", strata), ("allocation", allocation)):
            if shares is not None and (not shares or min(shares) <= 0 or abs(sum(shares) - 1) > 1e-6):
                raise ValueError(f"{label} are positive shares that sum to 1, not {list(shares)}")
        if allocation is not None and len(allocation) != len(strata):
            raise ValueError(f"{len(strata)} strata need {len(strata)} allocations, not {len(allocation)}")
        self.variable = variable
        self.strata = tuple(strata)
        self.allocation = None if allocation is None else tuple(allocation)
        self.name = "css"

    def run(self, population: Population, oracle: Oracle, budget: int, rng: np.random.Generator) -> Estimate:
        """The estimate from `budget` labels."""
        n = population.check_budget(budget)
        column = population.column(self.variable)
        strata, merged = _cut(np.argsort(column, kind="stable"), self.strata, n)
        sizes = np.array([len(part) for part in strata])
        whole = not merged and len(strata) == len(self.strata)
        shares = (
            np.asarray(self.allocation) if self.allocation is not None and whole else sizes.astype(np.float64)
        )
        notes = (
            []
            if whole
            else ["strata were merged (few labels or cases) and labels given in proportion to size"]
        )
        if population.is_constant(self.variable):
            notes.append(f"{self.variable} is constant: the strata are arbitrary")
        belief = 1 - population.columns.get("confidence", np.full(population.size, 0.5))
        return _stratified(
            self.name,
            population,
            oracle,
            rng,
            strata=strata,
            counts=allocate(shares, sizes, n),
            belief=belief,
            notes=tuple(notes),
        )


class StratifiedNeyman:
    """Equal-count strata along the belief in failure, labels by Neyman's allocation (Neyman 1934) from that belief.

    n_h ∝ N_h √(p̄_h(1 - p̄_h)), p̄_h the mean belief in the stratum.

    Args:
        variable: Column the belief comes from; see `prior_failure`.
        strata: How many.
        smoothing: How much of p̂ is replaced by its mean before allocating: how far confidence is mistrusted.
    """

    def __init__(self, variable: str = "confidence", strata: int = 10, smoothing: float = 0.1) -> None:
        if strata < 1:
            raise ValueError(f"strata is the number of strata, at least 1, not {strata}")
        self.variable = variable
        self.strata = strata
        self.smoothing = checked_range("smoothing", smoothing, 0.0, 1.0)
        self.name = "neyman"

    def run(self, population: Population, oracle: Oracle, budget: int, rng: np.random.Generator) -> Estimate:
        """The estimate from `budget` labels."""
        n = population.check_budget(budget)
        belief = prior_failure(population, self.variable)
        strata, merged = _cut(np.argsort(belief, kind="stable"), [1.0] * min(self.strata, population.size), n)
        sizes = np.array([len(part) for part in strata])
        rates = np.array([belief[part].mean() for part in strata])
        rates = rates + self.smoothing * (belief.mean() - rates)
        shares = sizes * np.sqrt(np.clip(rates * (1 - rates), 0.0, None))
        notes = ["strata were merged: fewer labels than strata"] if merged else []
        if np.ptp(belief) == 0:
            notes.append(f"{self.variable} is constant: the strata are arbitrary")
        return _stratified(
            self.name,
            population,
            oracle,
            rng,
            strata=strata,
            counts=allocate(shares, sizes, n),
            belief=belief,
            notes=tuple(notes),
        )
