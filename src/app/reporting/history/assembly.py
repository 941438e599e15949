"""The report of a history put together from the readings of its runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from app.comparison import Measure, Value
from app.report.lineage import Run, Subject
from app.reporting.history import words
from app.reporting.history.gathering import Found
from app.reporting.history.report import (
    Excluded,
    HistoryReport,
    Point,
    RunRow,
    Series,
    Settings,
    Verdict,
)
from app.reporting.history.trend import series

LISTED = 1000
"""Runs and files left out that are listed."""


def history_report(
    found: Sequence[Found],
    excluded: Sequence[Excluded],
    run: Run,
    subject: Subject,
    settings: Settings,
) -> HistoryReport:
    """The report.

    Args:
        found: the runs, in any order; at least one.
        excluded: what was left out.
        run: where the report comes from.
        subject: what it is about.
        settings: what was chosen.
    """
    ordered = sorted(found, key=lambda each: each.time)
    measured = tuple(_series(ordered))
    report = HistoryReport(
        run=run,
        subject=subject,
        settings=settings,
        verdict="unknown",
        sentence="",
        runs=tuple(_rows(ordered)),
        series=measured,
        excluded=tuple(sorted(excluded, key=lambda each: each.time))[-LISTED:],
        n_excluded=len(excluded),
    )
    return replace(report, verdict=_verdict(report.judged), sentence=words.sentence(report))


def subject_of(newest: Found, notes: Iterable[str] = ()) -> Subject:
    """The subject, as in the newest run."""
    readings = newest.readings
    return Subject(
        name=readings.subject,
        model=readings.model,
        dataset=readings.dataset,
        model_digest=readings.model_digest,
        data_digest=readings.data_digest,
        n=newest.n,
        classes=newest.classes or (),
        notes=tuple(notes),
    )


def notes(found: Sequence[Found]) -> list[str]:
    """What a reader must know of the runs."""
    told = []
    for origin, word in (("store", "the store"), ("file", "the file")):
        n = sum(each.time_from == origin for each in found)
        if n:
            told.append(f"The reports of {n} of {len(found)} runs do not say when they started: {word} does.")
    campaigns = {_campaign(each) for each in found} - {None}
    if len(campaigns) > 1:
        told.append(
            f"The runs have {len(campaigns)} different sets of mutants: a mutation score that moves may only be that "
            "of other mutants. task=compare scores two runs on the mutants of both; task.tags and task.since leave "
            "runs out."
        )
    names = {each.classes for each in found if each.classes is not None}
    if len(names) > 1:
        told.append(f"The runs do not all have the same classes: there are {len(names)} different lists.")
    return told


def _campaign(found: Found) -> tuple[float | str, ...] | None:
    """How many mutants a run judged, and by which operators; None if it judged none."""
    readings = found.readings
    mutants = readings.get("mutants")
    if mutants is None or mutants.value is None:
        return None
    keys = (each.measure.key for each in readings.items)
    return mutants.value, *sorted(key for key in keys if key.startswith("mutation_score/"))


def _rows(ordered: Sequence[Found]) -> Iterable[RunRow]:
    before: Found | None = None
    for each in ordered:
        readings = each.readings
        changed = []
        if before is not None:
            old = before.readings
            pairs = {
                "model": (old.model_digest, readings.model_digest),
                "data": (old.data_digest, readings.data_digest),
                "classes": (before.classes, each.classes),
                "version": (old.version, readings.version),
            }
            changed = [name for name, (one, other) in pairs.items() if one != other]
        yield RunRow(
            run_id=readings.run_id,
            time=each.time.isoformat(timespec="seconds"),
            time_from=each.time_from,
            source=each.source,
            version=readings.version,
            generator=each.generator,
            model_digest=readings.model_digest,
            data_digest=readings.data_digest,
            classes=None if each.classes is None else len(each.classes),
            changed=tuple(changed),  # type: ignore[arg-type]  # the names above
        )
        before = each


def _series(ordered: Sequence[Found]) -> Iterable[Series]:
    """Every measure that any run has a number of: as the newest run orders them, then those that it lacks."""
    measures: dict[str, Measure] = {}
    for each in reversed(ordered):
        for reading in each.readings.items:
            measures.setdefault(reading.measure.key, reading.measure)
    data = [each.readings.data_digest for each in ordered]
    times = [each.time.isoformat(timespec="seconds") for each in ordered]
    for measure in sorted(measures.values(), key=lambda each: not each.headline):
        points = [
            _point(each, time, each.readings.get(measure.key))
            for each, time in zip(ordered, times, strict=True)
        ]
        if any(point.value is not None for point in points):
            yield series(measure, points, data)


def _point(found: Found, time: str, reading: Value | None) -> Point:
    return Point(
        run_id=found.readings.run_id,
        time=time,
        value=None if reading is None else reading.value,
        low=None if reading is None or reading.interval is None else reading.interval[0],
        high=None if reading is None or reading.interval is None else reading.interval[1],
        reason="the run did not measure it" if reading is None else reading.reason,
    )


def _verdict(judged: Sequence[Series]) -> Verdict:
    trends = {each.trend for each in judged}
    if trends >= {"better", "worse"}:
        return "mixed"
    if "better" in trends:
        return "improved"
    if "worse" in trends:
        return "regressed"
    return "unchanged" if trends - {"unknown"} else "unknown"
