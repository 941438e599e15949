"""The report of a history (artifact `assay.history`): every measure over the runs of one task about one subject.

Runs stand in the order of their time. A number that a run does not have is null, with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from app.report.lineage import Run, Subject
from app.report.schema import Schema, read_report
from app.report.typed import from_plain

ARTIFACT, VERSION = "assay.history", 1
Trend: TypeAlias = Literal["better", "worse", "up", "down", "unchanged", "unknown"]
"""`up` and `down` where neither direction is better; `unknown` where nothing tells noise from change."""
Step: TypeAlias = Literal["better", "worse", "up", "down", "equal"]
JudgedBy: TypeAlias = Literal["noise", "intervals", "fixed", "difference"] | None
Verdict: TypeAlias = Literal["improved", "regressed", "mixed", "unchanged", "unknown"]


@dataclass(frozen=True)
class Settings:
    """What was chosen."""

    task: str
    """Whose runs."""
    subject: str
    """About what."""
    chosen: str
    """How the two were found, in words."""
    folder: str | None
    """The folder that was scanned; None for the store."""
    experiment: str | None
    """The experiment in the store; None for a folder."""
    since: str | None
    """Only runs from this time on."""
    until: str | None
    """Only runs up to this time."""
    tags: tuple[str, ...]
    """Only runs with these tags."""
    config_digest: str
    """Of the configuration."""


@dataclass(frozen=True)
class RunRow:
    """A run of the history."""

    run_id: str
    """Its id; empty if the report does not say."""
    time: str
    """When it started: ISO 8601 with the offset from UTC."""
    time_from: Literal["report", "store", "file"]
    """Who says so: the report; the store or the file's own time only where the report does not."""
    source: str
    """Where the report is."""
    version: int
    """Of its artifact."""
    generator: str
    """Version of the tool that wrote it."""
    model_digest: str
    """Digest of the model."""
    data_digest: str
    """Digest of the data."""
    classes: int | None
    """How many classes; None if the report does not say."""
    changed: tuple[Literal["model", "data", "classes", "version"], ...]
    """What is not the same as in the run before it."""


@dataclass(frozen=True)
class Point:
    """A number of one run."""

    run_id: str
    """The run."""
    time: str
    """When it started."""
    value: float | None
    """The number; None for a gap."""
    low: float | None
    """Lower end of its 95 % interval."""
    high: float | None
    """Upper end."""
    reason: str
    """Why there is a gap."""


@dataclass(frozen=True)
class Change:
    """A run at which a series moved to another level and stayed there."""

    index: int
    """Its place among the points."""
    run_id: str
    """The run."""
    time: str
    """When it started."""
    before: float
    """The level that ended."""
    after: float
    """The level that began."""
    kind: Trend
    """What the move means."""


@dataclass(frozen=True)
class Extreme:
    """A number that stands out, with its run."""

    index: int
    """Its place among the points."""
    run_id: str
    """The run."""
    time: str
    """When it started."""
    value: float
    """The number."""


@dataclass(frozen=True)
class Streak:
    """How the series ends."""

    kind: Step
    """What each of the last numbers is to the one before it."""
    runs: int
    """How many of them."""


@dataclass(frozen=True)
class Series:
    """One measure over time."""

    key: str
    """Names it."""
    title: str
    """In words."""
    unit: Literal["share", "score", "count", "number"]
    """A fraction, 0 to 100, a whole number, or any other."""
    better: Literal["higher", "lower"] | None
    """Which direction is better."""
    headline: bool
    """Whether it stands for its reports."""
    points: tuple[Point, ...]
    """One a run, oldest first."""
    n: int
    """How many of them have a number."""
    noise: float | None
    """Standard deviation from run to run about its level; None where too few numbers tell it."""
    change_points: tuple[Change, ...]
    """Where it moved to another level."""
    first: Extreme | None
    """The oldest number."""
    last: Extreme | None
    """The newest number."""
    best: Extreme | None
    """The best number, the newest of equal ones; None where neither direction is better."""
    worst: Extreme | None
    """The worst number, in the same way."""
    difference: float | None
    """Last minus first."""
    trend: Trend
    """What the last number is to the first, beyond what noise explains."""
    judged_by: JudgedBy
    """By what the trend was told from noise: the noise from run to run, the two intervals, a fixed limit (scores), or
    any difference (counts); None where nothing tells."""
    streak: Streak | None
    """How it ends."""


@dataclass(frozen=True)
class Excluded:
    """A run or file that is not in the history."""

    run_id: str
    """The run; empty if it is not known."""
    where: str
    """Where it is."""
    time: str
    """When it started or was written; empty if that is not known."""
    reason: str
    """Why it was left out."""


@dataclass(frozen=True)
class HistoryReport:
    """What the runs of one task about one subject say over time."""

    schema: Schema = field(default=Schema(ARTIFACT, VERSION), kw_only=True)
    """What this is; nobody needs to give it."""
    run: Run
    """Where the report comes from."""
    subject: Subject
    """What it is about, as in the newest run."""
    settings: Settings
    """What was chosen."""
    verdict: Verdict
    """Of the series in `judged`, last against first: improved and regressed are all of one mind."""
    sentence: str
    """The verdict in words."""
    runs: tuple[RunRow, ...]
    """Oldest first."""
    series: tuple[Series, ...]
    """Those that stand for their reports first."""
    excluded: tuple[Excluded, ...]
    """What was left out."""
    n_excluded: int
    """How many were left out, those not listed counted too."""

    @property
    def headlines(self) -> tuple[Series, ...]:
        """The series that stand for their reports."""
        return tuple(each for each in self.series if each.headline)

    @property
    def judged(self) -> tuple[Series, ...]:
        """The headlines that the verdict is about: without counts that chance may move, if there are others."""
        return tuple(each for each in self.headlines if each.judged_by != "difference") or self.headlines


def load(path: Path) -> HistoryReport:
    """Reads a history's report.json.

    Raises:
        UserError: it is no such report.
    """
    return from_plain(HistoryReport, read_report(path, ARTIFACT, VERSION), str(path))
