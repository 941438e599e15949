"""The default estimator: learns in waves where failures are, and balances a small error against failures found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from app.estimation.betting import SequenceInterval, certain_bets, drawn_bets
from app.estimation.draws import mixture_draws, systematic
from app.estimation.estimate import Estimate, trace_of_waves
from app.estimation.failure_model import FailureModel
from app.estimation.inclusion import inclusion
from app.estimation.intervals import DesignInterval
from app.estimation.oracle import Ledger, Oracle, Reason
from app.estimation.population import BoolArray, FloatArray, IntArray, Population
from app.estimation.stopping import check_target_width, stops
from app.estimation.weighted import variance_of_mean
from app.stats.confidence_sequences import Bets

BALANCES = {"accuracy": 0.0, "balanced": 0.2, "hunt": 3.0}
"""How far above the smallest predicted variance each mode may go to find more failures."""
_SMOOTHING = 0.05
"""How much of a predicted failure probability is replaced by the population's mean: what a wrong model may cost."""
_FIRST_WAVE = 0.5
"""Size of the first wave beside the others: its model has seen no label."""
_SMALLEST_WAVE = 5
_UNIFORM = 0.1
"""Share of uniform draws inside a wave where cases are drawn one by one."""
_TINY = 1e-7


@dataclass(frozen=True)
class _Wave:
    """One wave: what was believed of the cases left before it, and what its labels said."""

    cases: IntArray
    belief: FloatArray
    probabilities: FloatArray
    failing: float
    design_variance: float
    size: int


class Adaptive:
    """Waves of unequal-probability samples, each corrected by the difference estimator of a model fitted before it.

    Each wave predicts p̂ for the cases left, draws by systematic πps in order of p̂ (see `inclusion`), and estimates
    (known failures + Σ p̂ + Σ_wave (y - p̂)/π)/N. Model and π of a wave never saw its labels, so each wave is unbiased,
    and so is their mean with weights proportional to their sizes. The interval is of Wilson's type with the larger of
    the design variance and the one the last model predicts, and Student's quantile for n - W - p degrees of freedom:
    each wave costs one, and so does each of the p coefficients learnt. The first wave does not hunt: its model has seen
    no label.

    With a target width, cases are drawn one by one inside waves of `wave` labels, and the always-valid sequence
    stops the run.

    Args:
        mode: `accuracy` (smallest error), `balanced`, or `hunt` (most failures while the error stays moderate).
        balance: Overrides the mode's: predicted variance may be up to (1 + balance) times the smallest.
        columns: Auxiliary variables for the model beside the confidence; those the population lacks are left out.
        waves: W.
        target_width: Stop as soon as the always-valid 95 % interval is at most this wide; None spends the budget.
        wave: Labels asked for at once while a target width is set.
    """

    def __init__(
        self,
        mode: Literal["accuracy", "balanced", "hunt"] = "balanced",
        *,
        balance: float | None = None,
        columns: Sequence[str] = ("dsa",),
        waves: int = 5,
        target_width: float | None = None,
        wave: int = 20,
    ) -> None:
        if mode not in BALANCES:
            raise ValueError(f"mode is one of {', '.join(BALANCES)}, not {mode!r}")
        if balance is not None and not 0 <= balance < math.inf:
            raise ValueError(f"balance is at least 0 (0 is the smallest error), not {balance}")
        if waves < 1:
            raise ValueError(f"waves is a count, at least 1, not {waves}")
        self.mode = mode
        self.balance = BALANCES[mode] if balance is None else balance
        self.columns = tuple(columns)
        self.waves = waves
        self.target_width, self.wave = check_target_width(target_width, wave)
        self.name = {"balanced": "adaptive"}.get(mode, f"adaptive_{mode}")

    def run(self, population: Population, oracle: Oracle, budget: int, rng: np.random.Generator) -> Estimate:
        """The estimate from at most `budget` labels."""
        n = population.check_budget(budget)
        model = FailureModel(population, self.columns)
        ledger = Ledger(oracle, population.size)
        notes = self._notes(population, model)
        if self.target_width is not None:
            return self._until_narrow(
                population, model, ledger, budget=n, target_width=self.target_width, rng=rng, notes=notes
            )
        waves: list[_Wave] = []
        ends: list[int] = []
        values: list[float] = []
        for size in wave_sizes(n, self.waves):
            if waves:
                model.fit(ledger.cases, ledger.outcomes)
            waves.append(self._wave(model, ledger, size, self.balance if waves else 0.0, rng))
            weights = np.array([wave.size for wave in waves], dtype=np.float64)
            values.append(1 - float(weights @ [wave.failing for wave in waves] / weights.sum()))
            ends.append(len(ledger.cases))
        model.fit(ledger.cases, ledger.outcomes)
        variance = self._variance(waves, model, population.size)
        found = ledger.failures_known
        return Estimate(
            self.name,
            population.size,
            values[-1],
            math.sqrt(variance),
            ledger.cases,
            ledger.reasons,
            ledger.outcomes == 1,
            trace_of_waves(ends, values, ledger),
            interval_method=DesignInterval(
                values[-1],
                variance,
                n,
                (n - found) / population.size,
                1 - found / population.size,
                max(1.0, n - len(waves) - len(model.coefficients)),
            ),
            notes=notes,
        )

    def _notes(self, population: Population, model: FailureModel) -> tuple[str, ...]:
        missing = [name for name in self.columns if name not in model.used]
        notes = []
        if not model.has_confidence:
            state = "constant" if population.has("confidence") else "missing"
            meaning = (
                "the model of failure starts from the other columns alone"
                if model.used
                else "no column tells cases apart, so the draws are simple random ones; columns names others to use"
            )
            notes.append(f"confidence is {state}: {meaning}")
        notes += [
            f"column {name!r} is {'constant' if population.has(name) else 'missing'}: not in the model of failure"
            for name in missing
        ]
        return tuple(notes)

    def _wave(
        self, model: FailureModel, ledger: Ledger, size: int, balance: float, rng: np.random.Generator
    ) -> _Wave:
        total = ledger.population_size
        left = ledger.unseen
        belief, variance = _predict(model, left)
        plan = inclusion(belief, variance, size, balance)
        drawn = systematic(plan.probabilities, _order(belief), size, rng)
        known = ledger.failures_known
        reasons = [Reason.CERTAIN if sure else Reason.WEIGHT for sure in plan.certain[drawn]]
        outcomes = ledger.ask(left[drawn], reasons)
        chance = plan.probabilities[drawn]
        residuals = outcomes - belief[drawn]
        failing = (known + float(belief.sum()) + float((residuals / chance).sum())) / total
        spread = float(((1 - chance) * (residuals / chance) ** 2).sum()) / total**2
        return _Wave(left, belief, plan.probabilities, failing, spread, size)

    def _variance(self, waves: list[_Wave], model: FailureModel, total: int) -> float:
        """The larger of the design variance and the variance expected under the last model.

        Scaled by n/(n - p), as residuals of a model with p coefficients fitted to the same n labels are too small.
        """
        n = sum(wave.size for wave in waves)
        last = np.clip(model.predict(), _TINY, 1 - _TINY)
        design = predicted = 0.0
        for wave in waves:
            share = (wave.size / n) ** 2
            design += share * wave.design_variance
            rate = last[wave.cases]
            squares = _smooth_variance(rate) + (rate - wave.belief) ** 2
            predicted += share * float((squares * (1 / wave.probabilities - 1)).sum()) / total**2
        return max(design, predicted) * n / max(n - len(model.coefficients), 1)

    def _until_narrow(
        self,
        population: Population,
        model: FailureModel,
        ledger: Ledger,
        *,
        budget: int,
        target_width: float,
        rng: np.random.Generator,
        notes: tuple[str, ...],
    ) -> Estimate:
        """Draws one by one inside waves, until the always-valid interval is narrow enough or the budget is spent."""
        total = population.size
        prior = float(np.clip(model.predict().mean(), 1e-3, 1 - 1e-3))
        record: Bets | None = None
        ends: list[int] = []
        values: list[float] = []
        while ledger.spent < budget and not (record and stops(target_width, record)):
            if record is not None:
                model.fit(ledger.cases, ledger.outcomes)
            size = min(self.wave, budget - ledger.spent)
            bets = self._sequential_wave(
                model, ledger, size=size, balance=self.balance if record else 0.0, rng=rng, prior=prior
            )
            record = bets if record is None else record.then(bets)
            drawn = record.estimates[record.is_bet]
            values.append(1 - float(drawn.mean()) if len(drawn) else 1 - prior)
            ends.append(len(ledger.cases))
        if record is None:
            raise ValueError("a budget of no labels gives no estimate")
        drawn = record.estimates[record.is_bet]
        return Estimate(
            self.name,
            total,
            values[-1],
            math.sqrt(variance_of_mean(drawn, float(drawn.mean()))) if len(drawn) > 1 else math.nan,
            ledger.cases,
            ledger.reasons,
            ledger.outcomes == 1,
            trace_of_waves(ends, values, ledger),
            unbiased=False,
            interval_method=SequenceInterval(record),
            bets=partial(_same, record),
            notes=(
                *notes,
                "labelling may stop early: the interval allows for that, the value is slightly biased",
            ),
        )

    @staticmethod
    def _sequential_wave(
        model: FailureModel,
        ledger: Ledger,
        *,
        size: int,
        balance: float,
        rng: np.random.Generator,
        prior: float,
    ) -> Bets:
        left, total = ledger.unseen, ledger.population_size
        belief, variance = _predict(model, left)
        plan = inclusion(belief, variance, size, balance)
        certain: BoolArray = plan.certain & (
            np.cumsum(plan.certain) < size
        )  # one draw at least must be random
        rest = np.flatnonzero(~certain)
        sure = np.flatnonzero(certain)
        draws = mixture_draws(plan.probabilities[rest], 1 - _UNIFORM, size - len(sure), rng)
        failures, spent = ledger.failures_known, ledger.spent
        reasons = [Reason.CERTAIN] * len(sure)
        reasons += [Reason.WEIGHT if by else Reason.UNIFORM for by in draws.weighted]
        outcomes = ledger.ask(np.concatenate([left[sure], left[rest[draws.cases]]]), reasons)
        first = certain_bets(outcomes[: len(sure)], total, failures, spent - failures, prior)
        failures += int(outcomes[: len(sure)].sum())
        then = drawn_bets(
            draws,
            outcomes[len(sure) :],
            plan.probabilities[rest],
            belief[rest],
            total=total,
            failures_before=failures,
            correct_before=spent + len(sure) - failures,
            prior=prior,
        )
        return first.then(then)


def _same(record: Bets) -> Bets:
    return record


def wave_sizes(budget: int, waves: int) -> list[int]:
    """Labels of each wave: equal but for a smaller first one; fewer waves where they would get too small."""
    count = min(waves, max(1, budget // _SMALLEST_WAVE))
    shares = np.array([_FIRST_WAVE, *[1.0] * (count - 1)])
    ends = np.round(np.cumsum(shares) / shares.sum() * budget).astype(int)
    ends[0] = max(ends[0], 1)
    return [int(size) for size in np.diff(ends, prepend=0)]


def _smooth_variance(belief: FloatArray) -> FloatArray:
    """ṽ = p̃(1 - p̃), p̃ the belief moved a little towards its mean."""
    smooth = belief + _SMOOTHING * (belief.mean() - belief)
    return np.asarray(smooth * (1 - smooth), dtype=np.float64)


def _predict(model: FailureModel, cases: IntArray) -> tuple[FloatArray, FloatArray]:
    """p̂ of some cases, and ṽ."""
    belief = np.clip(model.predict()[cases], _TINY, 1 - _TINY)
    return belief, _smooth_variance(belief)


def _order(belief: FloatArray) -> IntArray:
    """Cases in order of their belief, to 1 in 65,000 of its logit: a radix sort, the same on every machine."""
    logits = np.log(belief / (1 - belief))
    low, high = float(logits.min()), float(logits.max())
    codes = ((logits - low) * (65535 / max(high - low, 1e-12))).astype(np.uint16)
    return np.argsort(codes, kind="stable")
