"""The report of a sweep (artifact `assay.sweep`): its jobs, what was chosen differently for each, and their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from app.report.lineage import Run, Subject
from app.report.schema import Schema, read_report
from app.report.typed import from_plain
from app.scoring.mutant_results import Interval

ARTIFACT, VERSION = "assay.sweep", 1
Status: TypeAlias = Literal["finished", "failed", "interrupted", "refused"]
"""How a job ended; refused is a mistake of the user's, found before there was a run."""


@dataclass(frozen=True)
class Summary:
    """How the jobs ended."""

    jobs: int
    """Jobs that began."""
    finished: int
    failed: int
    interrupted: int
    refused: int


@dataclass(frozen=True)
class Spread:
    """One number over the finished jobs."""

    key: str
    """As in the jobs' values."""
    title: str
    """In words."""
    unit: Literal["share", "score", "count", "number"]
    """`share`: a fraction; `score`: 0 to 100; `count`: a whole number; `number`: any other."""
    better: Literal["higher", "lower"] | None
    """Which direction is better."""
    n: int
    """Jobs that have it."""
    mean: float
    sd: float
    """Standard deviation between jobs; NaN for one job."""
    least: float
    most: float
    best: int | None
    """The job that is best in it; None if no direction is better, all are equal, or only seeds differ."""
    overlap: bool
    """Whether all intervals share a value, so that the differences may be noise; False without intervals."""


@dataclass(frozen=True)
class Value:
    """One number of a job."""

    value: float
    """NaN where there is none."""
    interval: Interval
    """Its 95 % interval; None where there is none."""
    reason: str = ""
    """Why there is no number."""


@dataclass(frozen=True)
class JobRow:
    """One job."""

    job: int
    """Its number, from 0."""
    label: str
    """What was chosen differently for it, in one line."""
    overrides: Mapping[str, str]
    """The same by key; empty where another job has a key that this one has not."""
    status: Status
    """How it ended."""
    reason: str
    """Why it failed or was refused."""
    task: str
    subject: str
    run_id: str
    """Empty if there is none."""
    link: str
    """Address of the run in MLflow's pages."""
    page: str
    """Its report.html, relative to this report; empty if there is none."""
    seconds: float
    """Wall time of its run; NaN if not known."""
    command: str
    """The command that repeats it into the same folder, or goes on with it."""
    values: Mapping[str, Value]
    """Its numbers by key."""


@dataclass(frozen=True)
class SweepReport:
    """The jobs of one sweep."""

    schema: Schema
    run: Run
    """The sweep's run, which holds those of its jobs."""
    subject: Subject
    """What the jobs are about: the subject if it is one, all their names if they are several."""
    summary: Summary
    swept: tuple[str, ...]
    """The keys that differ between jobs."""
    spreads: tuple[Spread, ...]
    """The numbers that stand for the jobs' reports, over the jobs."""
    jobs: tuple[JobRow, ...]
    """By number."""


def read_sweep(path: Path) -> SweepReport:
    """A report that was written before.

    Raises:
        UserError: the file cannot be read as one.
    """
    return from_plain(SweepReport, read_report(path, ARTIFACT, VERSION), str(path))
