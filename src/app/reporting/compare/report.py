"""The report of `task=compare` (artifact `assay.compare`): what changed between two runs, and whether that is chance.

Every difference is after less before. Rates and intervals are fractions in [0, 1], and so are their differences; only
autopsy scores are 0 to 100. A number that is not defined is null.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from app.comparison.results import (
    Causes,
    ClassChange,
    Comparability,
    Comparison,
    ConfusionMove,
    Decision,
    Delta,
    Mutants,
    Part,
    Verdict,
)
from app.report.lineage import Run, Subject
from app.report.schema import Schema, read_report
from app.report.typed import from_plain

ARTIFACT, VERSION = "assay.compare", 1


@dataclass(frozen=True)
class Source:
    """One of the two reports."""

    source: str
    """Where it comes from, in words."""
    report: str
    """Its file."""
    run_id: str
    """Its run; empty if nobody knows."""
    task: str
    subject: str
    """`model@dataset`."""
    n: int | None
    """Its test cases."""
    started: str
    """When the run started, in ISO 8601; empty if nobody knows."""
    model_digest: str
    data_digest: str


@dataclass(frozen=True)
class Settings:
    """What was chosen."""

    before: str
    """As it was given."""
    after: str
    fail_on: str | None
    """The verdict that ends with exit code 1."""
    smallest_score: float
    """Points of the autopsy score from which on a difference matters."""
    smallest_share: float
    """The same of shares."""
    resamples: int
    """Bootstrap samples."""
    seed: int
    config_digest: str
    """Of the configuration."""


@dataclass(frozen=True)
class CompareReport:
    """The whole report."""

    schema: Schema = field(default=Schema(ARTIFACT, VERSION), kw_only=True)
    """What this is; nobody needs to give it."""
    run: Run
    """Where it comes from."""
    subject: Subject
    """That of the second run."""
    settings: Settings
    """What was chosen."""
    verdict: Verdict
    """On the second run."""
    within_noise: bool
    """Whether the difference that decides is explained by chance."""
    decided_by: str
    """The rule that decided, in a sentence."""
    decision: Decision
    """The same, for machines."""
    before: Source
    after: Source
    comparability: Comparability
    """What the two have in common."""
    deltas: tuple[Delta, ...]
    """Every number in both runs, those that stand for the reports first."""
    classes: tuple[ClassChange, ...]
    """The common classes, those that lost most recall first."""
    causes: Causes | None
    """Null where reports have none."""
    confusion: tuple[ConfusionMove, ...]
    """The pairs of classes that moved most."""
    mutants: Mutants | None
    """Null where reports have none."""
    parts: tuple[Part, ...] = ()
    """Of checkups."""


def compare_report(
    found: Comparison,
    decided_by: str,
    *,
    run: Run,
    subject: Subject,
    settings: Settings,
    before: Source,
    after: Source,
) -> CompareReport:
    """The report of a comparison."""
    return CompareReport(
        run=run,
        subject=subject,
        settings=settings,
        verdict=found.verdict,
        within_noise=found.within_noise,
        decided_by=decided_by,
        decision=found.decision,
        before=before,
        after=after,
        comparability=found.comparability,
        deltas=found.deltas,
        classes=found.classes,
        causes=found.causes,
        confusion=found.confusion,
        mutants=found.mutants,
        parts=found.parts,
    )


def load(path: Path) -> CompareReport:
    """A report from its JSON file.

    Raises:
        UserError: It cannot be read, is another artifact or newer, or lacks something.
    """
    return from_plain(CompareReport, read_report(path, ARTIFACT, VERSION), str(path))
