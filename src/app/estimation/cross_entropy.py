"""CES: a sample whose last hidden layer looks like the population's."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from app.errors import UserError
from app.estimation.estimate import Estimate, Trace
from app.estimation.oracle import Ledger, Oracle, Reason
from app.estimation.population import FloatArray, IntArray, Population


def interval_codes(neurons: NDArray[np.floating], intervals: int, strict: bool = False) -> IntArray:
    """(N, m) which of K equal intervals from a neuron's minimum to its maximum each value lies in.

    Args:
        neurons: (N, m) outputs.
        intervals: K.
        strict: Whether a value on an edge belongs to no interval (code K), as in the original script.
    """
    low = neurons.min(axis=0)
    width = (neurons.max(axis=0) - low) / intervals
    place = (neurons - low) / np.where(width > 0, width, 1.0)
    codes = np.minimum(place.astype(np.int64), intervals - 1)
    if strict:
        codes[place == np.round(place)] = intervals
    return np.asarray(codes, dtype=np.int64)


class Divergence:
    """KL(sample ‖ population) of every neuron's histogram, kept up to date as cases join the sample.

    With n log-sums in hand, a candidate group costs a few look-ups a neuron and member, O(q² m), not a recount, O(n m).

    Args:
        codes: (N, m) intervals.
        intervals: K; code K counts nowhere.
        longest: Largest sample there will be.
    """

    def __init__(self, codes: IntArray, intervals: int, longest: int) -> None:
        self._neurons = codes.shape[1]
        cells = self._neurons * (intervals + 1)
        offsets = np.arange(self._neurons, dtype=np.int32) * (intervals + 1)
        self._cells = codes.astype(np.int32) + offsets
        population = np.bincount(self._cells.ravel(), minlength=cells)
        self._log_share = np.log(np.maximum(population, 1) / len(codes))
        logs = np.arange(longest + 2, dtype=np.float64)
        logs[1:] *= np.log(logs[1:])
        self._growth = np.diff(logs)  # of x log x when x becomes x + 1
        self._real = np.ones(cells)
        self._real[offsets + intervals] = 0.0
        self._dropped = bool((codes == intervals).any())
        self._counts = np.zeros(cells, dtype=np.int64)
        self._n = 0
        self._sum = 0.0
        self._mass = 0.0

    def _value(self, total: FloatArray | float, mass: FloatArray | float, n: int) -> FloatArray:
        # Σ_k (c/n) log((c/n)/P) summed over neurons = (Σ c log c - Σ c log P)/n - log n · Σ c / n.
        return np.asarray((total - np.asarray(mass) * math.log(n)) / (n * self._neurons), dtype=np.float64)

    @property
    def value(self) -> float:
        """Mean KL over neurons of the sample so far; infinite for none."""
        return float(self._value(self._sum, self._mass, self._n)) if self._n else math.inf

    def _gain(self, groups: IntArray) -> tuple[FloatArray, FloatArray]:
        """(L,) what each group of cases (L, q) adds to Σ(c log c - c log P) and to Σ c."""
        count, size = groups.shape
        # Row r holds what one more case adds to each cell once r cases of the same group are in it.
        table = np.stack([self._growth[self._counts + r] for r in range(size)]) - self._log_share
        table = (table * self._real).ravel()
        total, mass = np.zeros(count), np.full(count, float(size * self._neurons))
        members = [self._cells[groups[:, j]] for j in range(size)]
        for j, cells in enumerate(members):
            place = cells
            for earlier in members[:j]:
                place = place + (cells == earlier) * np.int32(len(self._real))
            total += table.take(place).sum(axis=1)
            if self._dropped:
                mass -= (1 - self._real.take(cells)).sum(axis=1)
        return total, mass

    def with_groups(self, groups: IntArray) -> FloatArray:
        """(L,) mean KL of the sample with each of these groups (L, q) added."""
        total, mass = self._gain(groups)
        return self._value(self._sum + total, self._mass + mass, self._n + groups.shape[1])

    def add(self, cases: IntArray) -> None:
        """Takes cases into the sample."""
        for case in cases:
            total, mass = self._gain(np.array([[case]]))
            self._sum += float(total[0])
            self._mass += float(mass[0])
            self._counts[self._cells[case]] += 1
        self._n += len(cases)


def random_groups(left: IntArray, count: int, size: int, rng: np.random.Generator) -> IntArray:
    """(count, size) cases from `left`, distinct inside a group."""
    if len(left) < 4 * size:
        return left[np.argsort(rng.random((count, len(left))), axis=1)[:, :size]]
    groups = rng.integers(len(left), size=(count, size))
    while True:
        ordered = np.sort(groups, axis=1)
        repeated = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
        if not len(repeated):
            return left[groups]
        groups[repeated] = rng.integers(len(left), size=(len(repeated), size))


class CES:
    """Cross entropy-based sampling (Li et al., ESEC/FSE 2019).

    Starts with p random cases and adds, out of L random groups of q, the one that brings the mean over neurons of
    KL(sample ‖ population) lowest; a random group if none improves. The sample mean is biased (the sample is chosen to
    look typical), and no interval would be honest: none is given. Nothing is asked before the whole sample is chosen.

    Args:
        start: p.
        group: q.
        groups: L.
        intervals: K intervals a neuron.
        compatible: Keep two faults of the original script: values on interval edges count nowhere, and a case can be
            picked twice.
    """

    def __init__(
        self,
        start: int = 30,
        group: int = 5,
        groups: int = 300,
        intervals: int = 20,
        compatible: bool = False,
    ) -> None:
        for name, value in (("start", start), ("group", group), ("groups", groups), ("intervals", intervals)):
            if value < 1:
                raise ValueError(f"{name} is a count, at least 1, not {value}")
        self.start, self.group, self.groups, self.intervals = start, group, groups, intervals
        self.compatible = compatible
        self.name = "ces"

    def run(self, population: Population, oracle: Oracle, budget: int, rng: np.random.Generator) -> Estimate:
        """The estimate from `budget` cases.

        Raises:
            UserError: the population has no neurons.
        """
        n, size = population.check_budget(budget), population.size
        if population.neurons is None:
            raise UserError(
                f"CES needs the outputs of the last hidden layer, population {population.name!r} has none"
            )
        codes = interval_codes(np.asarray(population.neurons), self.intervals, strict=self.compatible)
        divergence = Divergence(codes, self.intervals, n)
        first = rng.permutation(size)[: min(self.start, n)].astype(np.int64)
        divergence.add(first)
        chosen = [first]
        reasons = [Reason.UNIFORM] * len(first)
        free = np.ones(size, dtype=np.bool_)
        free[first] = False
        while len(reasons) < n:
            left = np.arange(size) if self.compatible else np.flatnonzero(free)
            groups = random_groups(left, self.groups, min(self.group, n - len(reasons), len(left)), rng)
            values = divergence.with_groups(groups)
            best = int(values.argmin())
            improves = bool(values[best] < divergence.value)
            picked = groups[best if improves else 0]
            divergence.add(picked)
            free[picked] = False
            chosen.append(picked)
            reasons += [Reason.GROUP if improves else Reason.UNIFORM] * len(picked)
        ledger = Ledger(oracle, size)
        outcomes = ledger.ask(np.concatenate(chosen), reasons)
        labels = np.arange(1, n + 1, dtype=np.int64)
        found = np.cumsum(outcomes)
        return Estimate(
            self.name,
            size,
            1 - float(outcomes.mean()),
            math.nan,
            ledger.cases,
            ledger.reasons,
            outcomes == 1,
            Trace(labels, 1 - found / labels, found.astype(np.int64)),
            unbiased=False,
            notes=(
                "the sample is chosen to look typical: the estimate is biased and has no honest interval",
            ),
        )
