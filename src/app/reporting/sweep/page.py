"""The page of a sweep: how far its jobs differ, then the jobs themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.report import words as text
from app.reporting import html
from app.reporting.plot import Tick, steps
from app.reporting.sweep import words
from app.reporting.sweep.report import JobRow, Spread, SweepReport

PANELS, ROWS, STEP, TOP = 4, 60, 36.0, 18.0
"""Numbers and jobs that are drawn; height of a job and of what is above the first, on the canvas."""
LEFT, RIGHT = 8.0, 332.0


@dataclass(frozen=True)
class Dot:
    """A job's number."""

    name: str
    """Which job."""
    y: float
    """Position on the canvas."""
    x: float | None
    """None where there is none."""
    low: float | None
    high: float | None
    """Ends of its whisker; None where there is no interval."""
    best: bool
    """Whether it is the best."""
    label: str
    """What it says."""


@dataclass(frozen=True)
class Panel:
    """One number of all jobs, on a canvas 340 wide."""

    spread: Spread
    title: str
    dots: tuple[Dot, ...]
    ticks: tuple[Tick, ...]
    height: float


def sweep_page(report: SweepReport) -> str:
    """The page as HTML; equal reports give equal text."""
    drawn, spreads = panels(report), words.foremost(report)
    return html.render(
        "sweep.html.j2",
        report=report,
        kind="sweep",
        title=f"{text.short(report.subject.name or 'sweep', 60)}: sweep",
        head=words.headline(report),
        words=words,
        spreads=spreads,
        heads=[(text.short(key, 40), "") for key in report.swept],
        measures=[(text.short(each.title, 40), "num") for each in spreads[:6]],
        panels=drawn,
        marked=any(each.best is not None for each in spreads),
    )


def panels(report: SweepReport) -> tuple[Panel, ...]:
    """The foremost numbers of the jobs."""
    jobs = [each for each in report.jobs if each.values][:ROWS]
    spreads = [each for each in words.foremost(report) if each.n][:PANELS]
    return tuple(_panel(each, jobs) for each in spreads if jobs)


def _panel(spread: Spread, jobs: Sequence[JobRow]) -> Panel:
    factor = 100.0 if spread.unit == "share" else 1.0
    found = [each.values.get(spread.key) for each in jobs]
    ends: list[float] = [
        factor * v for each in found if each for v in (each.value, *(each.interval or ())) if text.defined(v)
    ]
    if (
        max(ends) - min(ends) < 1e-9
    ):  # all jobs the same: a point to each side, so that it stands in the middle
        ends = [min(ends) - 1, min(ends) + 1]
    marks = steps(min(ends), max(ends), 4)
    low, high = min(marks[0], *ends), max(marks[-1], *ends)

    def x(value: float) -> float:
        return round(LEFT + (RIGHT - LEFT) * (factor * value - low) / (high - low or 1.0), 1)

    dots = []
    for place, (job, value) in enumerate(zip(jobs, found, strict=True)):
        known = value is not None and text.defined(value.value)
        interval = value.interval if value is not None and known else None
        interval_words = "" if value is None else words.shown_interval(value, spread.unit)
        dots.append(
            Dot(
                text.short(job.label or f"job {job.job}", 44),
                TOP + STEP * place + 27,
                x(value.value) if value is not None and known else None,
                None if interval is None else x(interval[0]),
                None if interval is None else x(interval[1]),
                spread.best == job.job,
                f"{job.label or f'job {job.job}'}: "
                + (words.shown(value.value, spread.unit) if value is not None else text.UNDEFINED)
                + (f", 95 % interval {interval_words}" if interval_words else ""),
            )
        )
    digits = 0 if marks[1] - marks[0] >= 1 else 1 if marks[1] - marks[0] >= 0.1 else 3
    ticks = tuple(Tick(x(mark / factor), text.number(mark, digits)) for mark in marks)
    return Panel(
        spread,
        f"{spread.title}{', %' if factor > 1 else ''}",
        tuple(dots),
        ticks,
        TOP + STEP * len(jobs) + 24,
    )
