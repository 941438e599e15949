"""The report of `task=autopsy` (artifact `assay.autopsy`): the diagnosis of one classifier.

Rates, scores and intervals are fractions in [0, 1]; only the autopsy score and its sub-scores are 0-100, log loss is
in nats and the Brier score goes from 0 to 2. A number that is not defined is null.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.integrity.quality import Quality
from app.report.lineage import Run, Subject
from app.report.schema import Schema, read_report
from app.report.typed import from_plain
from app.reporting.autopsy.parts import (
    ClassOrder,
    Embeddings,
    HardExample,
    LabelNoise,
    Leakage,
    Lookalikes,
    Overlays,
    SliceScore,
    Training,
)
from app.scoring.mutant_results import Interval

ARTIFACT = "assay.autopsy"
VERSION = 1


@dataclass(frozen=True)
class Settings:
    """What was chosen and changes the numbers."""

    seed: int
    """Of everything that is drawn."""
    profile: str
    """`assay`, or `original` for the score and causes of the original tool."""
    output: str
    """What the model's outputs were taken for: `probs` or `logits`."""
    on_invalid: str
    """What was done about rows with NaN or infinity."""
    resamples: int
    """Bootstrap samples."""
    weights: Mapping[str, float]
    """Weights of sub-scores that were chosen."""
    config_digest: str
    """Digest of the composed configuration."""


@dataclass(frozen=True)
class Summary:
    """The headline."""

    n: int
    """Test cases that count."""
    accuracy: float | None
    """Share of them predicted right."""
    accuracy_ci: Interval
    """Its 95 % interval (Wilson)."""
    macro_f1: float | None
    """Mean F1 over the classes."""
    macro_f1_ci: Interval
    """Its 95 % interval (bootstrap)."""
    ece: float | None
    """Expected calibration error, 10 bins of equal width."""
    ece_ci: Interval
    """Its 95 % interval (bootstrap)."""
    autopsy_score: float | None
    """0-100."""
    health: str
    """`healthy`, `at risk` or `unhealthy`."""
    health_reasons: tuple[str, ...]
    """What that rests on."""


@dataclass(frozen=True)
class Metric:
    """A number and how sure it is."""

    value: float | None
    """The number."""
    ci: Interval
    """Its 95 % interval."""
    method: str
    """`wilson` or `bootstrap`."""


@dataclass(frozen=True)
class ClassScore:
    """One class."""

    name: str
    """The class."""
    support: int
    """Its test cases."""
    predicted: int
    """How often it was predicted."""
    recall: float | None
    """Share of its test cases predicted right."""
    recall_ci: Interval
    """Its 95 % interval."""
    precision: float | None
    """Share of its predictions that are right."""
    precision_ci: Interval
    """Its 95 % interval."""
    f1: float | None
    """Harmonic mean of both."""
    mean_confidence: float | None
    """Mean confidence over its test cases."""


@dataclass(frozen=True)
class ConfusedPair:
    """One cell of the confusion matrix off the diagonal."""

    label: str
    """The class."""
    predicted: str
    """The class it was taken for."""
    count: int
    """How often."""
    rate: float
    """Share of the class's test cases."""


@dataclass(frozen=True)
class Bin:
    """One bin of the reliability diagram."""

    low: float
    """Lower edge."""
    high: float
    """Upper edge."""
    n: int
    """Predictions in it."""
    confidence: float | None
    """Their mean confidence."""
    accuracy: float | None
    """Share of them that are right."""
    accuracy_ci: Interval
    """Its 95 % interval (Wilson)."""


@dataclass(frozen=True)
class Temperature:
    """What temperature scaling would do, each half of the test cases scaled by the other."""

    temperature: float
    """Above 1 the model is too sure, below 1 not sure enough."""
    ece_before: float
    """ECE as it is."""
    ece_after: float
    """ECE of held-out cases after scaling."""
    log_loss_before: float
    """Log loss as it is."""
    log_loss_after: float
    """Log loss of held-out cases after scaling."""


@dataclass(frozen=True)
class Calibration:
    """How far confidence is from accuracy."""

    ece: float | None
    """Expected calibration error."""
    mce: float | None
    """Largest gap of a bin."""
    adaptive_ece: float | None
    """ECE over bins of equally many cases."""
    classwise_ece: float | None
    """Mean over the classes of the ECE of each class's own probability."""
    mean_confidence: float
    """Mean confidence."""
    signed_gap: float
    """Mean confidence minus accuracy."""
    signed_gap_ci: Interval
    """Its 95 % interval (Student)."""
    temperature: Temperature
    """What temperature scaling would do."""
    bins: tuple[Bin, ...]
    """The bins of the reliability diagram."""


@dataclass(frozen=True)
class Finding:
    """One diagnosed cause."""

    cause_type: str
    """Which cause."""
    severity: str
    """`high`, `medium` or `low`, by what is at stake."""
    confidence: float
    """How sure the rule is."""
    impact: float
    """Share of the test cases, of the accuracy or of the data that is at stake."""
    evidence: Mapping[str, float]
    """The numbers it rests on, by name."""
    affected: tuple[str, ...]
    """Classes or files concerned; empty if it concerns the whole model."""
    cases: tuple[int, ...]
    """Test cases concerned, worst first."""
    recommendations: tuple[str, ...]
    """What to do, most useful first."""


@dataclass(frozen=True)
class AutopsyReport:
    """The whole report."""

    schema: Schema = field(default=Schema(ARTIFACT, VERSION), kw_only=True)
    """What this is; nobody needs to give it."""
    run: Run
    """Where it comes from."""
    subject: Subject
    """What was diagnosed."""
    settings: Settings
    """What was chosen."""
    summary: Summary
    """The headline."""
    sub_scores: Mapping[str, float | None]
    """Of the autopsy score, 0-100; null where not applicable."""
    not_applicable: Mapping[str, str]
    """Why a sub-score is null."""
    metrics: Mapping[str, Any]
    """All headline numbers by name, each a `Metric`; read back they are plain mappings."""
    findings: tuple[Finding, ...]
    """Most confident first."""
    per_class: tuple[ClassScore, ...]
    """In the order of the subject's classes."""
    calibration: Calibration
    """Confidence against accuracy."""
    confusion: tuple[tuple[int, ...], ...]
    """(K, K), whole: labels in rows, predictions in columns."""
    confused: tuple[ConfusedPair, ...]
    """Every confusion that occurred, largest rate first."""
    hard_examples: tuple[HardExample, ...]
    """At most a dozen of each kind, hardest first."""
    hard_example_counts: Mapping[str, int]
    """All test cases of each kind."""
    label_noise: LabelNoise
    """Suspects are listed whether or not they are a finding."""
    class_order: ClassOrder
    """Whether columns and names fit."""
    slices: tuple[SliceScore, ...] = ()
    """Clusters of the embeddings, most suspicious first."""
    embeddings: Embeddings | None = None
    """Null without a model."""
    gradcam: Overlays | None = None
    """Null without a model, or if none were asked for."""
    dataset_quality: Quality | None = None
    """Null without images."""
    near_duplicates: Lookalikes | None = None
    """Null unless asked for."""
    training: Training | None = None
    """Null without training data."""
    leakage: Leakage | None = None
    """Null without training images."""


def load(path: Path) -> AutopsyReport:
    """The report in a file written by `write_json`.

    Raises:
        UserError: The file is no such report, or lacks what this version needs; the sentence names it.
    """
    return from_plain(AutopsyReport, read_report(path, ARTIFACT, VERSION), str(path))
