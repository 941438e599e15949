"""From what the estimators said to the typed report."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

import numpy as np

from app.estimation.estimate import Estimate
from app.estimation.evaluation import Evaluation, Result
from app.estimation.labels import Labels
from app.estimation.leakage import Leak
from app.estimation.oracle import LabelsNeeded, Reason
from app.estimation.population import BoolArray, IntArray, Population
from app.estimation.regression import failure_curve
from app.reporting.estimate.report import (
    Asked,
    Course,
    EstimateRow,
    Failure,
    Interval,
    Labelling,
    PopulationBlock,
    ResultRow,
    SkippedRow,
    Variable,
    WinLoss,
)

REASONS = {
    Reason.CERTAIN: "very likely a failure: taken for certain",
    Reason.UNIFORM: "drawn at random",
    Reason.WEIGHT: "drawn by weight: the more doubtful, the likelier",
    Reason.STRATUM: "drawn at random among cases of like confidence",
    Reason.GROUP: "makes the sample look like the population",
}
"""Why a case was chosen, in words."""
_CHANCE = 3.0
"""Standard errors below the level at which a coverage is flagged."""


@dataclass(frozen=True)
class Cases:
    """A population with all that a report says about its cases."""

    population: Population
    source: Literal["table", "model"]
    failures: BoolArray | None = None
    """(N,) outcomes, where all are known."""
    leaks: tuple[Leak, ...] = ()
    class_names: tuple[str, ...] = ()
    true: IntArray | None = None
    """(N,) true classes, -1 where not known."""
    layers: str = ""
    """Where activation traces were taken, in words."""
    key: str = ""
    """Equal as long as nothing changed that a model's variables come from; empty for a table."""

    def class_name(self, label: int | None) -> str:
        """A class in words; empty for none."""
        if label is None or label < 0:
            return ""
        return self.class_names[label] if label < len(self.class_names) else str(label)

    def predicted(self, case: int) -> str:
        """The predicted class of a case in words."""
        known = self.population.predicted
        return "" if known is None else self.class_name(int(known[case]))

    def confidence(self, case: int) -> float:
        """The confidence of a case; NaN where not known."""
        return (
            float(self.population.column("confidence")[case])
            if self.population.has("confidence")
            else math.nan
        )


def digest_of(population: Population) -> str:
    """SHA-256 of ids, auxiliary variables, predicted classes and neurons."""
    hasher = hashlib.sha256("\0".join(population.ids.tolist()).encode("utf-8", "surrogatepass"))
    for name in sorted(population.columns):
        hasher.update(name.encode() + np.ascontiguousarray(population.columns[name]).tobytes())
    for extra in (population.predicted, population.neurons):
        hasher.update(b"|" if extra is None else np.ascontiguousarray(extra).tobytes())
    return hasher.hexdigest()


def population_block(cases: Cases) -> PopulationBlock:
    """What the report says about a population."""
    population, failures = cases.population, cases.failures
    why = {leak.column: leak.reason for leak in cases.leaks}
    variables = []
    for name, values in population.columns.items():
        curve = None if failures is None else failure_curve(name, values, failures)
        variables.append(
            Variable(
                name,
                float(values.min()),
                float(values.max()),
                math.nan if curve is None else curve.auc,
                math.nan if curve is None else curve.intercept,
                math.nan if curve is None else curve.slope,
                () if curve is None else tuple(curve.bin_centres.tolist()),
                () if curve is None else tuple(curve.bin_rates.tolist()),
                why.get(name),
            )
        )
    return PopulationBlock(
        population.name,
        cases.source,
        population.size,
        math.nan if failures is None else 1 - float(failures.mean()),
        None if failures is None else int(failures.sum()),
        tuple(variables),
        0 if population.neurons is None else population.neurons.shape[1],
        digest_of(population),
        population.notes,
        cases.key or digest_of(population),
    )


def result_rows(evaluation: Evaluation, level: float) -> tuple[ResultRow, ...]:
    """The results, with what stands out flagged."""
    return tuple(_row(result, evaluation.results, level) for result in evaluation.results)


def _row(result: Result, others: Sequence[Result], level: float) -> ResultRow:
    slack = _CHANCE * math.sqrt(level * (1 - level) / result.repetitions)
    rivals = [each for each in others if (each.subject, each.budget) == (result.subject, result.budget)]
    beaten = any(
        each.mse <= result.mse
        and each.failures_mean >= result.failures_mean
        and (each.mse, each.failures_mean) != (result.mse, result.failures_mean)
        for each in rivals
    )
    return ResultRow(
        subject=result.subject,
        estimator=result.estimator,
        budget=result.budget,
        repetitions=result.repetitions,
        accuracy=result.accuracy,
        mean=result.mean,
        mse=result.mse,
        rmse_ratio_srs=result.rmse_ratio_srs,
        bias=result.bias,
        bias_se=result.bias_se,
        bias_flagged=bool(abs(result.bias) > 4 * result.bias_se),
        failures_mean=result.failures_mean,
        failures_std=result.failures_std,
        cost_mean=result.cost_mean,
        coverage=result.coverage,
        coverage_flagged=bool(result.coverage < level - slack),
        width_mean=result.width_mean,
        sequence_misses=result.sequence_misses,
        unbiased=result.unbiased,
        on_front=not beaten,
        notes=result.notes,
        rmse_ratio_srs_se=result.rmse_ratio_srs_se,
    )


def skipped_rows(evaluation: Evaluation) -> tuple[SkippedRow, ...]:
    """What could not be run."""
    return tuple(SkippedRow(each.subject, each.estimator, each.reason) for each in evaluation.skipped)


def win_losses(evaluation: Evaluation) -> tuple[WinLoss, ...]:
    """Every ordered pair of estimators that met."""
    met: dict[tuple[str, str], list[int]] = {}
    for pair in evaluation.comparisons():
        entry = met.setdefault((pair.a, pair.b), [0, 0, 0])
        entry[0] += pair.wins
        entry[1] += pair.loses
        entry[2] += 1
    return tuple(WinLoss(a, b, *counts) for (a, b), counts in met.items())


def estimate_row(cases: Cases, estimate: Estimate, budget: int, level: float) -> EstimateRow:
    """One estimate with its interval."""
    interval: Interval = None
    if estimate.interval_method is not None:
        fixed = estimate.interval(level)
        interval = (fixed.low, fixed.high)
    always: Interval = None
    if estimate.bets is not None:
        last = estimate.sequence(level)[-1]
        always = (last.low, last.high)
    trace = estimate.trace
    keep = np.unique(np.linspace(0, len(trace.labels) - 1, min(len(trace.labels), 60)).round().astype(int))
    return EstimateRow(
        cases.population.name,
        estimate.estimator,
        budget,
        estimate.value,
        estimate.se,
        interval,
        always,
        math.nan if cases.failures is None else 1 - float(cases.failures.mean()),
        estimate.cost,
        len(estimate.failures),
        estimate.unbiased,
        Course(
            tuple(trace.labels[keep].tolist()),
            tuple(trace.values[keep].tolist()),
            tuple(trace.failures[keep].tolist()),
        ),
        estimate.notes,
    )


def failure_rows(cases: Cases, estimate: Estimate, *, pictured: bool) -> tuple[Failure, ...]:
    """The failures that an estimate found, in the order they were found.

    Args:
        cases: the population.
        estimate: what found them.
        pictured: whether there are pictures, of which copies will lie beside the report.
    """
    why: dict[int, Reason] = {}
    for case, reason in zip(estimate.sampled.tolist(), estimate.reasons, strict=True):
        why.setdefault(case, reason)
    rows = []
    for case in estimate.failures.tolist():
        name = str(cases.population.ids[case])
        true = cases.class_name(None if cases.true is None else int(cases.true[case]))
        rows.append(
            Failure(
                cases.population.name,
                case,
                name,
                true,
                cases.predicted(case),
                cases.confidence(case),
                REASONS[why[case]],
                f"failures/{safe(true or 'unknown')}/{case:06d}-{safe(PurePosixPath(name).stem)}.png"
                if pictured
                else "",
            )
        )
    return tuple(rows)


def safe(name: str) -> str:
    """A name that any file system takes."""
    return re.sub(r"[^\w-]+", "_", name, flags=re.ASCII).strip("_")[:80] or "case"


def labels_needed(cases: Cases, labels: Labels, needed: LabelsNeeded, budget: int, command: str) -> Labelling:
    """What is needed to go on."""
    return Labelling(
        "labels needed",
        labels.count,
        needed.spent,
        budget,
        tuple(
            Asked(
                case,
                str(cases.population.ids[case]),
                cases.predicted(case),
                cases.confidence(case),
                REASONS[reason],
            )
            for case, reason in zip(needed.items.tolist(), needed.reasons, strict=True)
        ),
        command,
        needed.answered,
    )


def labels_enough(labels: Labels, estimate: Estimate, budget: int) -> Labelling:
    """Labelling is done."""
    state: Literal["budget spent", "narrow enough"] = (
        "narrow enough" if estimate.cost < budget else "budget spent"
    )
    return Labelling(state, labels.count, estimate.cost, budget)
