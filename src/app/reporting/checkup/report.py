"""The report of `task=checkup` (artifact `assay.checkup`): four questions about one classifier, answered.

Rates, scores and intervals are fractions in [0, 1]; only autopsy scores are 0-100. What a part did not tell is null.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from app.report.lineage import Run, Subject
from app.report.schema import Schema, read_report
from app.report.typed import from_plain
from app.scoring.mutant_results import Interval

ARTIFACT, VERSION = "assay.checkup", 1
PARTS = ("autopsy", "mutate", "estimate", "contaminate")
"""In the order in which they run."""
Grade: TypeAlias = Literal["good", "warning", "bad", "unknown"]
Status: TypeAlias = Literal["finished", "failed", "left out"]
Verdict: TypeAlias = Literal["better", "worse", "same", "not comparable"]


@dataclass(frozen=True)
class PartRun:
    """The run of a part."""

    id: str
    """Identifier of the run in the store."""
    seconds: float
    """Wall time."""


@dataclass(frozen=True)
class CheckupRun(Run):
    """The run of a checkup, and those of its parts."""

    parts: Mapping[str, PartRun] = field(default_factory=dict)
    """Of the parts that finished."""


@dataclass(frozen=True)
class Settings:
    """What was chosen and changes the numbers."""

    seed: int
    """Of every random choice."""
    training: str
    """Name of the training data; empty without."""
    training_digest: str
    """Digest of the training data."""
    stream: str
    """Name of the operational data; empty without."""
    stream_digest: str
    """Digest of the operational data."""
    operators: tuple[str, ...]
    """Operators of the mutants."""
    config_digest: str
    """Digest of the composed configuration."""
    rules: Mapping[str, str] = field(default_factory=dict)
    """Digests of how headline numbers are made, by number: which mutants and when they are killed, which weights."""


@dataclass(frozen=True)
class Number:
    """A number and how sure it is."""

    value: float | None
    """The number."""
    ci: Interval = None
    """Its interval, where there is one."""
    n: int | None = None
    """What it was measured on: test cases, mutants, labels."""
    level: float = 0.95
    """Of the interval."""


@dataclass(frozen=True)
class Part:
    """One part of the checkup."""

    status: Status
    """How it ended."""
    message: str = ""
    """Why it failed or was left out."""
    report: str = ""
    """Its report.json, relative to this file; report.html lies beside it."""
    headline: str = ""
    """What it comes down to."""
    summary: Mapping[str, Number] = field(default_factory=dict)
    """Its headline numbers by name."""


@dataclass(frozen=True)
class Question:
    """One of the four questions."""

    question: str
    """As it is asked."""
    verdict: Grade
    """How good the answer is."""
    label: str
    """The answer in a word or two."""
    answer: str
    """The answer."""
    meaning: str
    """What it rests on, or what follows from it."""
    part: str
    """The part that answers; empty for the history."""
    number: str = ""
    """Name of the number in `summary` that stands for it."""


@dataclass(frozen=True)
class Step:
    """Something to do next."""

    part: str
    """The part that suggests it."""
    title: str
    """What it is about."""
    text: str
    """What to do."""


@dataclass(frozen=True)
class Unnoticed:
    """A mutant that survived, the nearest to being noticed first."""

    key: str
    """The mutant."""
    operator: str
    """Its operator."""
    target: str
    """Where it is."""
    nearness: str
    """How near it is to being noticed."""
    needed: str
    """What would have killed it."""


@dataclass(frozen=True)
class Mistake:
    """A failure that was found in operation."""

    id: str
    """What the case is called."""
    true_class: str
    """Empty where only the outcome is known."""
    predicted_class: str
    """What the model said."""
    confidence: float
    """How sure it was."""
    picture: str = ""
    """Its copy, relative to this file."""


@dataclass(frozen=True)
class Change:
    """A headline number, then and now."""

    key: str
    """Its name in `summary`."""
    title: str
    """In words."""
    before: Number
    """In the previous checkup."""
    after: Number
    """Now."""
    difference: float
    """Now less then."""
    margin: float
    """Changes up to this one may be chance."""
    verdict: Verdict
    """What that means."""


@dataclass(frozen=True)
class Previous:
    """The checkup before this one: the newest of the same subject that was not made from the very same things."""

    run_id: str
    """Its run."""
    started: str
    """When it started."""
    differs: tuple[str, ...]
    """What is not the same: model, test data, operational data, training data, settings."""
    changes: tuple[Change, ...]
    """The headline numbers that both have."""


@dataclass(frozen=True)
class CheckupReport:
    """The whole report."""

    schema: Schema = field(default=Schema(ARTIFACT, VERSION), kw_only=True)
    """What this is; nobody needs to give it."""
    run: CheckupRun
    """Where it comes from."""
    subject: Subject
    """What was looked at."""
    settings: Settings
    """What was chosen."""
    summary: Mapping[str, Number]
    """The headline numbers: mutation_score, autopsy_score, accuracy, operational_accuracy, and counts."""
    questions: tuple[Question, ...]
    """The four questions."""
    parts: Mapping[str, Part]
    """By name."""
    next_steps: tuple[Step, ...]
    """The gravest first."""
    unnoticed: tuple[Unnoticed, ...]
    """Mutants to kill next."""
    mistakes: tuple[Mistake, ...]
    """The surest failures in operation."""
    previous: Previous | None = None
    """Null for the first checkup of a subject."""


def load(path: Path) -> CheckupReport:
    """The report in a file written by `write_json`.

    Raises:
        UserError: The file is no such report, or lacks what this version needs; the sentence names it.
    """
    return from_plain(CheckupReport, read_report(path, ARTIFACT, VERSION), str(path))
