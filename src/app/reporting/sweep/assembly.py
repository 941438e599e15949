"""The report of a sweep from what its jobs have left."""

from __future__ import annotations

import math
import shlex
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app import measures
from app.comparison.readings import Readings
from app.report.lineage import Run, Subject
from app.report.schema import Schema
from app.report.words import defined
from app.reporting.sweep.report import (
    ARTIFACT,
    VERSION,
    JobRow,
    Spread,
    Status,
    Summary,
    SweepReport,
    Value,
)

MOST = 12
"""Numbers that are kept of each job."""


@dataclass(frozen=True)
class Done:
    """A job that has ended."""

    number: int
    """From 0."""
    command: tuple[str, ...]
    """The words of the command line that repeats it."""
    status: Status
    reason: str
    """Why it failed or was refused."""
    task: str
    subject: str
    run_id: str
    link: str
    page: str
    """Its report.html, relative to the sweep's folder."""
    folder: str
    """Its folder; empty if that is on another machine."""
    seconds: float | None
    resumable: bool
    """Whether it can go on where it stopped."""
    readings: Readings | None
    """The numbers of its report."""


def sweep_report(jobs: Sequence[Done], run: Run) -> SweepReport:
    """The report, jobs by number."""
    jobs = sorted(jobs, key=lambda each: each.number)
    chosen = [chosen_by(each.command) for each in jobs]
    swept = differing(chosen)
    rows = tuple(_row(each, values, swept) for each, values in zip(jobs, chosen, strict=True))
    readings = [
        (each.number, {item.measure.key: item for item in each.readings.items if item.measure.headline})
        for each in jobs
        if each.readings is not None
    ]
    by_chance = {key.rpartition(".")[2] for key in swept} == {"seed"}  # none is the best choice
    keys = list(dict.fromkeys(key for _, found in readings for key in found))[:MOST]
    return SweepReport(
        schema=Schema(ARTIFACT, VERSION),
        run=run,
        subject=_subject(jobs),
        summary=Summary(
            jobs=len(jobs),
            **{
                status: sum(each.status == status for each in jobs)
                for status in ("finished", "failed", "interrupted", "refused")
            },
        ),
        swept=swept,
        spreads=tuple(_spread(key, readings, ranked=not by_chance) for key in keys),
        jobs=rows,
    )


def chosen_by(command: Sequence[str]) -> dict[str, str]:
    """What a command line chooses, by key, without plus signs; what is left out (`~key`) has the value `left out`."""
    found: dict[str, str] = {}
    for each in command:
        key, mark, value = each.partition("=")
        if key.startswith("~"):
            found[key[1:]] = "left out"
        elif mark:
            found[key.lstrip("+")] = value
    return found


def differing(jobs: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
    """The keys in which at least two jobs differ, in the order in which they were given."""
    keys = dict.fromkeys(key for each in jobs for key in each)
    return tuple(key for key in keys if len({each.get(key) for each in jobs}) > 1)


def _row(done: Done, chosen: Mapping[str, str], swept: Sequence[str]) -> JobRow:
    own = {key: chosen.get(key, "") for key in swept}
    found = () if done.readings is None else done.readings.items
    return JobRow(
        job=done.number,
        label=", ".join(f"{key}={value}" for key, value in own.items() if value),
        overrides=own,
        status=done.status,
        reason=done.reason,
        task=done.task,
        subject=done.subject,
        run_id=done.run_id,
        link=done.link,
        page=done.page,
        seconds=math.nan if done.seconds is None else done.seconds,
        command=_command(done),
        values={each.measure.key: _value(each) for each in found if each.measure.headline},
    )


def _command(done: Done) -> str:
    """Into the same folder: a job's own would be the sweep's."""
    words = [each for each in done.command if not each.startswith("output=")]
    words += [f"output={done.folder}"] if done.folder else []
    words += [f"resume={done.run_id}"] if done.resumable else []
    return shlex.join(words)


def _value(reading: measures.Value) -> Value:
    value = math.nan if reading.value is None else reading.value
    low, high = reading.interval or (None, None)
    interval = None if low is None or high is None or not (defined(low) and defined(high)) else (low, high)
    return Value(value, interval, reading.reason)


def _subject(jobs: Sequence[Done]) -> Subject:
    """The jobs' subject; of several there is only the names."""
    found = {each.readings.subject: each.readings for each in jobs if each.readings is not None}
    names = list(found) or list(dict.fromkeys(each.subject for each in jobs if each.subject))
    one = next(iter(found.values())) if len(found) == 1 else None
    digests = set()
    if one is not None:
        digests = {
            (each.readings.model_digest, each.readings.data_digest)
            for each in jobs
            if each.readings is not None
        }
    model, data = next(iter(digests)) if len(digests) == 1 else ("", "")
    return Subject(
        name=", ".join(names),
        model="" if one is None else one.model,
        dataset="" if one is None else one.dataset,
        model_digest=model,
        data_digest=data,
        n=0,
        classes=(),
    )


def _spread(key: str, jobs: Sequence[tuple[int, Mapping[str, measures.Value]]], *, ranked: bool) -> Spread:
    found = [(number, values[key]) for number, values in jobs if key in values]
    measure = found[0][1].measure
    known = {number: each.value for number, each in found if each.value is not None and defined(each.value)}
    values = list(known.values())
    best = None
    if ranked and measure.better is not None and len(set(values)) > 1:
        top = (max if measure.better == "higher" else min)(values)
        best = next(number for number, value in known.items() if value == top)
    ends = [each.interval for _, each in found if each.interval is not None]
    lows, highs = [low for low, _ in ends], [high for _, high in ends]
    return Spread(
        key=key,
        title=measure.title,
        unit=measure.unit,
        better=measure.better,
        n=len(known),
        mean=statistics.fmean(values) if values else math.nan,
        sd=statistics.stdev(values) if len(values) > 1 else math.nan,
        least=min(values, default=math.nan),
        most=max(values, default=math.nan),
        best=best,
        overlap=len(ends) > 1 and len(ends) == len(found) and max(lows) <= min(highs),
    )
