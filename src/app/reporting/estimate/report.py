"""The report of operational accuracy, typed: what `report.json` of `assay.estimate` holds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from app.report.lineage import Run, Subject
from app.report.schema import Schema, read_report
from app.report.typed import from_plain

ARTIFACT, VERSION = "assay.estimate", 1
Interval = tuple[float, float] | None
Use = Literal["evaluation", "labelling"]
State = Literal["labels needed", "budget spent", "narrow enough"]


@dataclass(frozen=True)
class Settings:
    """What was chosen."""

    use: Use
    """`evaluation` against known labels, or `labelling` for real."""
    seed: int
    """Of every random choice."""
    budgets: tuple[int, ...]
    """Labels to spend."""
    repetitions: int
    """How often each estimator was run; 1 for real."""
    level: float
    """Of every interval."""
    target_width: float | None
    """Width of the always-valid interval at which labelling stops."""
    estimators: Mapping[str, str]
    """Class of each estimator, by name."""
    layers: str = ""
    """Where activation traces were taken, in words; empty without a model."""
    training: str = ""
    """The training data that surprise was measured against."""
    config_digest: str = ""
    """Digest of all settings."""


@dataclass(frozen=True)
class Variable:
    """One auxiliary variable of a population, and how failure depends on it where outcomes are known."""

    name: str
    """Its name."""
    low: float
    """Smallest value."""
    high: float
    """Largest value."""
    auc: float
    """Probability that a failure has a larger value than a correct case; NaN where not known."""
    intercept: float
    """Of the logistic curve of failure; NaN where not known."""
    slope: float
    """Of the same, per unit."""
    bin_centres: tuple[float, ...] = ()
    """Mean value of equal-count groups of cases."""
    bin_rates: tuple[float, ...] = ()
    """Share of failures among them."""
    leak: str | None = None
    """Why it must not be used: it knows the outcome."""


@dataclass(frozen=True)
class PopulationBlock:
    """One population."""

    name: str
    """The subject."""
    source: Literal["table", "model"]
    """Where its auxiliary variables come from."""
    n: int
    """Cases."""
    accuracy: float
    """The truth; NaN where labels are not all known."""
    failures: int | None
    """All that there are; None where not known."""
    variables: tuple[Variable, ...]
    """Its auxiliary variables."""
    neurons: int
    """Outputs of the last hidden layer; 0 without any."""
    digest: str
    """Of ids, auxiliary variables and predicted classes."""
    notes: tuple[str, ...] = ()
    """What a reader must know."""
    key: str = ""
    """Equal as long as nothing changed that the variables come from: the table, or model, data and layers."""


@dataclass(frozen=True)
class ResultRow:
    """One estimator on one population with one budget, over all repetitions."""

    subject: str
    estimator: str
    budget: int
    repetitions: int
    accuracy: float
    """The truth."""
    mean: float
    """Mean estimate."""
    mse: float
    rmse_ratio_srs: float
    """Root mean squared error over that of simple random sampling without replacement, in theory."""
    bias: float
    bias_se: float
    """Monte-Carlo standard error of the bias."""
    bias_flagged: bool
    """Whether the bias is more than four of its standard errors."""
    failures_mean: float
    failures_std: float
    cost_mean: float
    """Labels paid for."""
    coverage: float
    """Share of intervals that hold the truth; NaN where there is no honest interval."""
    coverage_flagged: bool
    """Whether that is lower than the level by more than chance explains."""
    width_mean: float
    sequence_misses: float
    """Share of runs whose always-valid interval ever misses the truth; NaN where not checked."""
    unbiased: bool
    """Whether the estimator claims to be."""
    on_front: bool
    """Whether no other estimator is better in both error and failures."""
    notes: tuple[str, ...] = ()
    rmse_ratio_srs_se: float = math.nan
    """Monte-Carlo standard error of the ratio; NaN for one repetition."""


@dataclass(frozen=True)
class SkippedRow:
    """What could not be run."""

    subject: str
    estimator: str
    reason: str


@dataclass(frozen=True)
class WinLoss:
    """How often one estimator beats another in both error and failures, over populations and budgets."""

    a: str
    b: str
    wins: int
    losses: int
    pairs: int
    """Comparisons in all."""


@dataclass(frozen=True)
class Course:
    """How an estimate moved while labels were spent."""

    labels: tuple[int, ...]
    values: tuple[float, ...]
    failures: tuple[int, ...]


@dataclass(frozen=True)
class EstimateRow:
    """One estimate: the one made for real, or the first repetition of an evaluation."""

    subject: str
    estimator: str
    budget: int
    value: float
    se: float
    interval: Interval
    """None where the estimator has no honest one."""
    always_valid: Interval
    """The interval that holds whenever one stops; None where there is none."""
    truth: float
    """NaN where not known."""
    cost: int
    """Labels paid for."""
    failures: int
    """Failures found."""
    unbiased: bool
    trace: Course
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Failure:
    """A failure that was found."""

    subject: str
    case: int
    """Its index in the population."""
    id: str
    """What the case is called."""
    true_class: str
    """Empty where only the outcome is known."""
    predicted_class: str
    confidence: float
    reason: str
    """Why the case was chosen for labelling."""
    picture: str = ""
    """Its copy beside the report."""


@dataclass(frozen=True)
class Asked:
    """A case that needs a label."""

    case: int
    id: str
    predicted_class: str
    confidence: float
    reason: str


@dataclass(frozen=True)
class Labelling:
    """Where labelling for real stands."""

    state: State
    labels_read: int
    """Labels in the file."""
    spent: int
    """Labels of finished waves."""
    budget: int
    asked: tuple[Asked, ...] = ()
    """What is needed to go on, in the order to label."""
    next_command: str = ""
    """The command that goes on once these have a label."""
    answered: int = 0
    """Labels that the unfinished wave has already."""

    @property
    def unused(self) -> int:
        """Labels of cases that were not drawn."""
        return max(0, self.labels_read - self.spent - self.answered)


@dataclass(frozen=True)
class EstimateReport:
    """All of it."""

    schema: Schema
    run: Run
    subject: Subject
    settings: Settings
    populations: tuple[PopulationBlock, ...]
    results: tuple[ResultRow, ...] = ()
    skipped: tuple[SkippedRow, ...] = ()
    wins: tuple[WinLoss, ...] = ()
    estimates: tuple[EstimateRow, ...] = ()
    failures: tuple[Failure, ...] = ()
    labelling: Labelling | None = None
    example: str = ""
    """The estimator that found `failures`."""


def read_estimate_report(path: Path) -> EstimateReport:
    """A report from its file.

    Raises:
        UserError: it is none, newer than this program, or lacks something.
    """
    return from_plain(EstimateReport, read_report(path, ARTIFACT, VERSION), str(path))
