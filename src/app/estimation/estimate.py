"""What an estimator gives: an estimate of the accuracy that can be asked further."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from app.estimation.intervals import IntervalMethod
from app.estimation.oracle import Ledger, Oracle, Reason
from app.estimation.population import BoolArray, FloatArray, IntArray, Population
from app.stats import Interval
from app.stats.confidence_sequences import Bets


class Estimator(Protocol):
    """A sampling design together with its formula."""

    @property
    def name(self) -> str:
        """What it is called in reports."""
        ...

    def run(self, population: Population, oracle: Oracle, budget: int, rng: np.random.Generator) -> Estimate:
        """The estimate from at most `budget` labels.

        Deterministic in the population, the outcomes and the state of `rng`.

        Raises:
            UserError: for a budget or a population it cannot use.
            LabelsNeeded: from the oracle.
        """
        ...


@dataclass(frozen=True)
class Trace:
    """How the estimate moved while labels were spent: one point per draw or per wave."""

    labels: IntArray
    """(k,) draws made so far."""
    values: FloatArray
    """(k,) estimated accuracy after them."""
    failures: IntArray
    """(k,) failures found so far."""


@dataclass(frozen=True)
class Estimate:
    """An estimate of the accuracy θ of a population from some labels."""

    estimator: str
    """Name of the estimator."""
    population_size: int
    """N."""
    value: float
    """θ̂. Unbiased estimates may lie outside [0, 1]; they are not cut, because cutting is a bias."""
    se: float
    """Estimated standard error of θ̂; NaN where no honest one exists."""
    sampled: IntArray
    """(n,) the cases drawn, in order (with replacement: with repeats)."""
    reasons: tuple[Reason, ...]
    """Why each was drawn."""
    outcomes: BoolArray
    """(n,) whether each fails."""
    trace: Trace
    """The way there."""
    unbiased: bool = True
    """Whether the estimator claims E[θ̂] = θ."""
    interval_method: IntervalMethod | None = None
    """How the interval is made; None where no honest one exists."""
    bets: Callable[[], Bets] | None = None
    """Makes the draws into bets, where the conditional probability of each is known: for the always-valid sequence."""
    notes: tuple[str, ...] = field(default=())
    """What a reader must know: bias, coverage, fallbacks taken."""

    @classmethod
    def of(
        cls,
        estimator: str,
        ledger: Ledger,
        value: float,
        se: float,
        *,
        unbiased: bool = True,
        interval_method: IntervalMethod | None = None,
        notes: tuple[str, ...] = (),
    ) -> Estimate:
        """The estimate from all labels in a ledger, with a trace of one point: the short way for an estimator.

        Args:
            estimator: Its name.
            ledger: What was drawn, why, and what came of it.
            value: θ̂.
            se: Its estimated standard error, NaN where no honest one exists.
            unbiased: Whether the estimator claims E[θ̂] = θ.
            interval_method: How the interval is made.
            notes: What a reader must know.
        """
        outcomes = ledger.outcomes == 1
        trace = trace_of_waves([len(outcomes)], [value], ledger)
        return cls(
            estimator,
            ledger.population_size,
            float(value),
            float(se),
            ledger.cases,
            ledger.reasons,
            outcomes,
            trace,
            unbiased=unbiased,
            interval_method=interval_method,
            notes=notes,
        )

    @property
    def cost(self) -> int:
        """Labels paid for."""
        return len(np.unique(self.sampled))

    @property
    def failures(self) -> IntArray:
        """The distinct failures found, in the order they were found."""
        failed = self.sampled[self.outcomes]
        return failed[np.sort(np.unique(failed, return_index=True)[1])]

    def interval(self, level: float = 0.95) -> Interval:
        """The fixed-sample interval of θ: honest if the number of labels was not chosen by looking at it.

        Raises:
            ValueError: the estimator has no honest interval, or the level is not in (0, 1).
        """
        if self.interval_method is None:
            raise ValueError(f"{self.estimator} has no honest interval")
        return self.interval_method.at(level)

    def sequence(self, level: float = 0.95) -> tuple[Interval, ...]:
        """The always-valid intervals after each draw: all cover θ together with probability `level`.

        Raises:
            ValueError: the conditional probabilities of the draws are not known, or the level is not in (0, 1).
        """
        if self.bets is None:
            raise ValueError(f"{self.estimator} has no always-valid sequence")
        return tuple(each.complement for each in self.bets().confidence_sequence(level))


def trace_of_waves(ends: list[int], values: list[float], ledger: Ledger) -> Trace:
    """The trace of an estimator that asks in waves: draws up to each wave's end, and θ̂ there."""
    labels = np.asarray(ends, dtype=np.int64)
    found = np.concatenate([[0], np.cumsum(ledger.outcomes)])
    return Trace(labels, np.asarray(values, dtype=np.float64), found[labels].astype(np.int64))
