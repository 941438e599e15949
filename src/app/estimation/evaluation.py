"""Estimators against known labels: repetitions × budgets × estimators, as in the DeepEST paper and with coverage."""

from __future__ import annotations

import math
import multiprocessing
import signal
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np

from app.errors import UserError
from app.estimation.estimate import Estimate, Estimator
from app.estimation.oracle import ArrayOracle
from app.estimation.population import BoolArray, FloatArray, Population
from app.stats.interval import check_level

BUDGETS = (50, 100, 200, 400, 800)
"""Sample sizes of the paper."""
_AT_ONCE = 50
"""Repetitions that one process does at a time."""


@dataclass(frozen=True)
class KnownPopulation:
    """A population whose outcomes are all known."""

    population: Population
    """The cases."""
    failures: BoolArray
    """(N,) outcomes."""

    def __post_init__(self) -> None:
        if self.failures.shape != (self.population.size,):
            raise UserError(
                f"population {self.population.name!r} has {self.population.size} cases"
                f" and {self.failures.shape} outcomes"
            )

    @property
    def accuracy(self) -> float:
        """θ."""
        return 1 - float(self.failures.mean())

    def srs_rmse(self, budget: int) -> float:
        """√(θ(1 - θ)/n · (N - n)/(N - 1)): the error of a simple random sample without replacement, in theory."""
        theta, size = self.accuracy, self.population.size
        return math.sqrt(theta * (1 - theta) / budget * (size - budget) / (size - 1))


@dataclass(frozen=True)
class Result:
    """One estimator on one population with one budget, over all repetitions."""

    subject: str
    """Name of the population."""
    estimator: str
    """Name of the estimator."""
    budget: int
    """n."""
    repetitions: int
    """How often it was run."""
    accuracy: float
    """θ, the truth."""
    mean: float
    """Mean estimate."""
    mse: float
    """Mean squared error."""
    rmse_ratio_srs: float
    """√MSE over the analytic RMSE of simple random sampling without replacement; NaN if that is 0."""
    rmse_ratio_srs_se: float
    """Monte-Carlo standard error of that ratio; NaN for one repetition, or without a ratio."""
    bias: float
    """Mean error."""
    bias_se: float
    """Monte-Carlo standard error of the bias."""
    failures_mean: float
    """Mean number of distinct failures found, φ."""
    failures_std: float
    """Its standard deviation."""
    cost_mean: float
    """Mean number of labels paid for."""
    coverage: float
    """Share of fixed-sample intervals that hold θ; NaN where the estimator has none."""
    width_mean: float
    """Mean width of those intervals; NaN likewise."""
    sequence_misses: float
    """Share of runs whose always-valid sequence misses θ at any draw; NaN where not computed or there is none."""
    unbiased: bool
    """Whether the estimator claims to be."""
    notes: tuple[str, ...]
    """What the estimates say of themselves, each once."""


@dataclass(frozen=True)
class Skipped:
    """A pair that could not be run."""

    subject: str
    """Name of the population."""
    estimator: str
    """Name of the estimator."""
    reason: str
    """Why."""


@dataclass(frozen=True)
class Comparison:
    """Estimator a against b on one population with one budget."""

    subject: str
    """Name of the population."""
    budget: int
    """n."""
    a: str
    """Name of the first."""
    b: str
    """Name of the second."""
    precision: float
    """π_AB = MSE_B/MSE_A; above 1, a is the more precise."""
    failures: float
    """ρ_AB = φ_A/φ_B; above 1, a finds more failures."""

    @property
    def wins(self) -> bool:
        """Whether a is better in both."""
        return self.precision > 1 and self.failures > 1

    @property
    def loses(self) -> bool:
        """Whether a is worse in both."""
        return self.precision < 1 and self.failures < 1


@dataclass(frozen=True)
class Evaluation:
    """All results of an evaluation."""

    results: tuple[Result, ...]
    """One per population, budget and estimator that could be run."""
    skipped: tuple[Skipped, ...]
    """What could not be run, and why."""

    def comparisons(self) -> tuple[Comparison, ...]:
        """Every ordered pair of estimators on every population and budget."""
        return tuple(
            Comparison(
                a.subject,
                a.budget,
                a.estimator,
                b.estimator,
                _over(b.mse, a.mse),
                _over(a.failures_mean, b.failures_mean),
            )
            for a in self.results
            for b in self.results
            if (a.subject, a.budget) == (b.subject, b.budget) and a.estimator != b.estimator
        )

    def wins(self) -> dict[str, dict[str, tuple[int, int]]]:
        """For each estimator against each other one: how often it wins and loses over populations and budgets."""
        table: dict[str, dict[str, tuple[int, int]]] = {}
        for pair in self.comparisons():
            won, lost = table.setdefault(pair.a, {}).get(pair.b, (0, 0))
            table[pair.a][pair.b] = (won + pair.wins, lost + pair.loses)
        return table

    def curve(self, subject: str, estimator: str) -> tuple[Result, ...]:
        """The results of one estimator on one population, by budget."""
        chosen = [row for row in self.results if (row.subject, row.estimator) == (subject, estimator)]
        return tuple(sorted(chosen, key=lambda row: row.budget))


def _over(top: float, bottom: float) -> float:
    """A ratio of two amounts ≥ 0: 1 for 0/0, infinite for x/0."""
    if bottom == 0:
        return 1.0 if top == 0 else math.inf
    return top / bottom


@dataclass(frozen=True)
class _Job:
    known: int
    estimator: Estimator
    budget: int
    repetitions: range
    seed: int
    level: float
    sequences: bool


@dataclass(frozen=True)
class _Rows:
    values: FloatArray
    failures: FloatArray
    costs: FloatArray
    covered: FloatArray
    widths: FloatArray
    missed: FloatArray
    unbiased: bool
    notes: tuple[str, ...]


def generator(seed: int, subject: str, estimator: str, budget: int, repetition: int) -> np.random.Generator:
    """The generator of one repetition: independent of which others are run, in which order and where."""
    names = [zlib.crc32(subject.encode()), zlib.crc32(estimator.encode())]
    return np.random.default_rng([seed, *names, budget, repetition])


def _row(estimate: Estimate, accuracy: float, job: _Job) -> tuple[float, ...]:
    covered = width = missed = math.nan
    if estimate.interval_method is not None:
        interval = estimate.interval(job.level)
        covered, width = float(interval.covers(accuracy)), interval.width
    if job.sequences and estimate.bets is not None:
        # Each interval lies inside the one before, so the last one misses if any does.
        missed = float(not estimate.sequence(job.level)[-1].covers(accuracy))
    return estimate.value, len(estimate.failures), estimate.cost, covered, width, missed


def _run(job: _Job, known: KnownPopulation) -> _Rows | str:
    population, oracle = known.population, ArrayOracle(known.failures)
    rows, notes, unbiased = [], dict[str, None](), True
    for repetition in job.repetitions:
        rng = generator(job.seed, population.name, job.estimator.name, job.budget, repetition)
        try:
            estimate = job.estimator.run(population, oracle, job.budget, rng)
        except UserError as error:
            return str(error)
        rows.append(_row(estimate, known.accuracy, job))
        notes.update(dict.fromkeys(estimate.notes))
        unbiased = unbiased and estimate.unbiased
    values, failures, costs, covered, widths, missed = np.asarray(rows, dtype=np.float64).T
    return _Rows(values, failures, costs, covered, widths, missed, unbiased, tuple(notes))


_shared: list[KnownPopulation] = []
"""The populations of this worker process, sent once when it starts."""


def _start_worker(known: list[KnownPopulation]) -> None:
    _shared[:] = known
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C reaches all processes: the first one ends the others


def _run_shared(job: _Job) -> _Rows | str:
    return _run(job, _shared[job.known])


def _mean(values: FloatArray) -> float:
    """The mean of the numbers that are there; NaN if there are none."""
    there = values[~np.isnan(values)]
    return float(there.mean()) if len(there) else math.nan


def _result(job: _Job, known: KnownPopulation, rows: _Rows) -> Result:
    errors = rows.values - known.accuracy
    squares = errors**2
    mse, count = float(squares.mean()), len(errors)
    srs = known.srs_rmse(job.budget)
    ratio = math.sqrt(mse) / srs if srs > 0 else math.nan
    # Delta method: the relative error of √MSE is half that of the MSE.
    relative = (
        float(squares.std(ddof=1)) / math.sqrt(count) / (2 * mse) if count > 1 and mse > 0 else math.nan
    )
    return Result(
        known.population.name,
        job.estimator.name,
        job.budget,
        len(rows.values),
        known.accuracy,
        float(rows.values.mean()),
        mse,
        ratio,
        ratio * relative,
        float(errors.mean()),
        float(errors.std(ddof=1)) / math.sqrt(count) if count > 1 else math.nan,
        float(rows.failures.mean()),
        float(rows.failures.std(ddof=1)) if count > 1 else 0.0,
        float(rows.costs.mean()),
        _mean(rows.covered),
        _mean(rows.widths),
        _mean(rows.missed),
        rows.unbiased,
        rows.notes,
    )


def evaluate(
    populations: Sequence[KnownPopulation],
    estimators: Sequence[Estimator],
    budgets: Sequence[int] = BUDGETS,
    *,
    repetitions: int = 30,
    seed: int = 0,
    level: float = 0.95,
    sequences: bool = False,
    workers: int = 1,
    advance: Callable[[int], None] = lambda _: None,
) -> Evaluation:
    """Runs every estimator on every population with every budget, many times.

    The numbers depend on the seed and the names alone, not on `workers`, the order, or what else is run.

    Args:
        populations: Populations with known outcomes, of different names.
        estimators: Estimators of different names.
        budgets: Sample sizes.
        repetitions: How often each is run; the paper has 30, which leaves an MSE uncertain by a factor of 1.3 and more;
            rank on 1,000.
        seed: Seed of everything.
        level: Level of the intervals.
        sequences: Whether to check the always-valid sequences too (some milliseconds a run).
        workers: Processes; 1 stays in this one.
        advance: Called with the number of runs that are done.

    Raises:
        UserError: names are not unique, or a budget is not allowed for a population.
        ValueError: repetitions or workers below 1, or a level outside (0, 1).
    """
    check_level(level)
    if repetitions < 1 or workers < 1:
        raise ValueError(f"repetitions and workers are counts, at least 1, not {repetitions} and {workers}")
    for what, names in (
        ("populations", [known.population.name for known in populations]),
        ("estimators", [estimator.name for estimator in estimators]),
    ):
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise UserError(f"two {what} are called {twice[0]!r}: names must differ")
    for known in populations:
        for budget in budgets:
            known.population.check_budget(budget)
    jobs = [
        _Job(
            index, estimator, budget, range(first, min(first + _AT_ONCE, repetitions)), seed, level, sequences
        )
        for index in range(len(populations))
        for budget in budgets
        for estimator in estimators
        for first in range(0, repetitions, _AT_ONCE)
    ]
    parts: list[_Rows | str] = []
    results: list[Result] = []
    skipped: dict[tuple[str, str], Skipped] = {}
    for job, rows in zip(jobs, _all(jobs, list(populations), workers), strict=True):
        advance(len(job.repetitions))
        parts.append(rows)
        if job.repetitions.stop < repetitions:
            continue
        known = populations[job.known]
        refused = [part for part in parts if isinstance(part, str)]
        if refused:
            name = known.population.name
            skipped.setdefault((name, job.estimator.name), Skipped(name, job.estimator.name, refused[0]))
        else:
            results.append(_result(job, known, _joined([part for part in parts if isinstance(part, _Rows)])))
        parts = []
    return Evaluation(tuple(results), tuple(skipped.values()))


def _joined(parts: list[_Rows]) -> _Rows:
    """The rows of all repetitions, in order."""
    return _Rows(
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.failures for part in parts]),
        np.concatenate([part.costs for part in parts]),
        np.concatenate([part.covered for part in parts]),
        np.concatenate([part.widths for part in parts]),
        np.concatenate([part.missed for part in parts]),
        all(part.unbiased for part in parts),
        tuple(dict.fromkeys(note for part in parts for note in part.notes)),
    )


def _all(jobs: list[_Job], populations: list[KnownPopulation], workers: int) -> Iterator[_Rows | str]:
    if workers == 1:
        yield from (_run(job, populations[job.known]) for job in jobs)
        return
    # Spawned, not forked: the parent may hold threads of other libraries.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        workers, mp_context=context, initializer=_start_worker, initargs=(populations,)
    ) as pool:
        yield from pool.map(_run_shared, jobs)
