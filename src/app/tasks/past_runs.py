"""The finished runs of one task about one subject: from the store, or from a folder of reports."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from difflib import get_close_matches
from pathlib import Path

from app.comparison.readings import TASKS
from app.errors import UserError
from app.reporting.history.gathering import Found, Gathered, moment, scan
from app.runs import RunInfo
from app.tasks.chosen import answered
from app.tracking import READERS, Store

MOST_RUNS = 1000
"""Runs that are read, the newest."""
STATES = {"RUNNING": "it is still running", "FAILED": "it failed", "KILLED": "it was interrupted"}


@dataclass(frozen=True)
class Wanted:
    """Which runs."""

    of: str | None = None
    """Their task; None for that of the newest."""
    subject: str | None = None
    """What they are about; None for that of the newest."""
    experiment: str | None = None
    """The experiment in the store; None for the store's own."""
    since: str | None = None
    """Only from this day or time on."""
    until: str | None = None
    """Only up to this day or time."""
    tags: tuple[str, ...] = ()
    """Only with these tags in the store: `name=value`, or a name alone."""

    def __post_init__(self) -> None:
        begin, end = self.interval
        if begin and end and begin > end:
            raise UserError(f"task.since={self.since} is later than task.until={self.until}")

    @property
    def interval(self) -> tuple[datetime | None, datetime | None]:
        """The times meant; a day alone begins at midnight, or ends there."""
        return _day("since", self.since), _day("until", self.until, end=True)

    def is_tagged(self, run: RunInfo) -> bool:
        """Whether a run has the tags; one of ours may be named without its `assay.`."""
        for each in self.tags:
            name, has_value, value = each.partition("=")
            found = run.tags.get(name, run.tags.get(f"assay.{name}"))
            if found is None or (has_value and found != value):
                return False
        return True

    def may_be_in_time(self, run: RunInfo) -> bool:
        """False only if its report is surely too old or too new: a report's time is a little before its run's."""
        begin, end = self.interval
        too_old = begin is not None and run.end is not None and run.end < begin
        return not too_old and (end is None or run.start - timedelta(days=1) <= end)

    def in_time(self, found: Iterable[Found]) -> list[Found]:
        """Those that began in time."""
        begin, end = self.interval
        return [
            each
            for each in found
            if (begin is None or each.time >= begin) and (end is None or each.time <= end)
        ]

    def __str__(self) -> str:
        """What was asked for, in words that go behind `run`."""
        parts = {" of ": self.of, " about ": self.subject, " since ": self.since, " until ": self.until}
        parts[" tagged "] = ", ".join(self.tags)
        return "".join(f"{word}{value}" for word, value in parts.items() if value)


@dataclass(frozen=True)
class PastRuns:
    """The runs of one task about one subject."""

    task: str
    """The task."""
    subject: str
    """What they are about."""
    said: str
    """How the two were chosen, in a sentence."""
    gathered: Gathered
    """The runs, two at least, and what was left out."""


def from_store(store: Store, wanted: Wanted) -> PastRuns:
    """The runs in a store, oldest first.

    Raises:
        UserError: there are fewer than two.
    """
    place = f"experiment {wanted.experiment or store.experiment} in {store.address}"
    of, subject, said = wanted.of, wanted.subject, "As asked for"
    if of is not None:
        _check_task(store, wanted, of, place)
    if of is None or subject is None:
        newest = store.parents(of, subject, experiment=wanted.experiment, limit=1)
        newest = answered(newest) or answered(store.parents(of, subject, experiment=wanted.experiment))
        if not newest:
            raise UserError(f"{place} has no finished run{wanted}: run a task first")
        of, subject, said = newest[0].task, newest[0].subject, "By the newest finished run"
    gathered = Gathered()
    there = store.parents(of, subject, experiment=wanted.experiment, status=None)
    runs = [each for each in there if wanted.is_tagged(each) and wanted.may_be_in_time(each)]
    if len(runs) > MOST_RUNS:
        gathered.notes.append(f"Of {len(runs)} runs the newest {MOST_RUNS} were read.")
    for run in reversed(runs[:MOST_RUNS]):
        _take(store, run, gathered)
    gathered.found = wanted.in_time(gathered.found)
    if len(gathered.found) < 2:
        every = Counter((each.task, each.subject) for each in store.parents(experiment=wanted.experiment))
        raise UserError(_too_few(place, replace(wanted, of=of, subject=subject), gathered, every))
    return PastRuns(of, subject, f"{said}: {of} about {subject}.", gathered)


def _check_task(store: Store, wanted: Wanted, task: str, place: str) -> None:
    """Raises UserError, with what there is, if the store has no run of a task."""
    if task in TASKS and store.parents(task, experiment=wanted.experiment, status=None, limit=1):
        return
    there = [each for each in TASKS if store.parents(each, experiment=wanted.experiment, limit=1)]
    close = get_close_matches(task, there, 1)
    said = "has no run;" if task in TASKS else "is an unknown task;"
    if task not in TASKS and close:
        said = f"is an unknown task: did you mean {close[0]}?"
    has = f"finished runs of {', '.join(there)}" if there else "no finished run at all"
    raise UserError(f"task.of={task} {said} {place} has {has}")


def _take(store: Store, run: RunInfo, gathered: Gathered) -> None:
    """Reads the report of a run, or lists why not."""
    if run.status != "FINISHED":
        gathered.leave_out(run.id, run.name, run.start, STATES.get(run.status, f"it is {run.status}"))
        return
    try:
        path = run.folder / "report.json" if run.folder else store.report(run.id)
    except UserError as error:
        gathered.leave_out(run.id, run.name, run.start, str(error))
        return
    if path.exists():
        gathered.take(path, f"run {run.id}", run.start, "store")
    else:
        gathered.leave_out(run.id, run.name, run.start, "it has no report.json")


def from_folder(folder: Path, wanted: Wanted) -> PastRuns:
    """The runs whose reports are in a folder.

    Raises:
        UserError: there are fewer than two, or it is no folder.
    """
    place = f"task.folder={folder}"
    gathered = scan(folder)
    reports = [each for each in gathered.found if each.readings.task not in READERS]
    named = [
        each
        for each in wanted.in_time(reports)
        if wanted.of in {None, each.readings.task} and wanted.subject in {None, each.readings.subject}
    ]
    every = Counter((each.readings.task, each.readings.subject) for each in reports)
    if not named and wanted.of is not None and wanted.of not in TASKS:
        there = sorted({task for task, _ in every}) or ["no task"]
        raise UserError(f"task.of={wanted.of} is an unknown task; {place} has reports of {', '.join(there)}")
    if not named:
        raise UserError(f"{place} has no report{wanted}{_left_out(gathered)}; {_instead(every)}")
    newest = max(named, key=lambda each: each.time).readings
    of, subject = newest.task, newest.subject
    gathered.found = [each for each in named if (each.readings.task, each.readings.subject) == (of, subject)]
    if len(gathered.found) < 2:
        raise UserError(_too_few(place, replace(wanted, of=of, subject=subject), gathered, every))
    others = len(reports) - every[of, subject]
    if others:
        gathered.notes.append(f"{folder} has {others} more of other tasks or subjects.")
    if len(gathered.found) > MOST_RUNS:
        gathered.notes.append(f"Of {len(gathered.found)} reports the newest {MOST_RUNS} are shown.")
        gathered.found = sorted(gathered.found, key=lambda each: each.time)[-MOST_RUNS:]
    said = "By the newest report" if None in {wanted.of, wanted.subject} else "As asked for"
    return PastRuns(of, subject, f"{said}: {of} about {subject}.", gathered)


def _too_few(place: str, asked: Wanted, gathered: Gathered, every: Counter[tuple[str, str]]) -> str:
    found = len(gathered.found)
    return (
        f"a history takes 2 finished runs: {place} has {found}{asked}{_left_out(gathered)}; {_instead(every)}"
    )


def _left_out(gathered: Gathered) -> str:
    if not gathered.excluded:
        return ""
    first = gathered.excluded[0]
    return f" ({len(gathered.excluded)} left out, such as {first.where}: {first.reason})"


def _instead(every: Counter[tuple[str, str]]) -> str:
    """What there is enough of."""
    enough = [
        f"task.of={task} {shlex.quote(f'task.subject={subject}')}"
        for (task, subject), n in every.most_common()
        if n > 1
    ]
    return f"allowed: {', or '.join(enough[:3])}" if enough else "run a task again first"


def _day(key: str, text: str | None, *, end: bool = False) -> datetime | None:
    """The time that an option means."""
    if text is None:
        return None
    found = moment(text)
    if found is None:
        raise UserError(f"task.{key}={text} must be a day or time such as 2026-05-03 or 2026-05-03T14:00")
    whole_day = re.fullmatch(r"\d{4}-?\d{2}-?\d{2}", text) is not None
    return found + timedelta(days=1, microseconds=-1) if end and whole_day else found
