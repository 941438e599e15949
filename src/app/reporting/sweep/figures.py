"""The picture of a sweep, as a PNG file for other documents and for the store."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from app.report.words import defined, plural, short
from app.reporting.figures import GOOD, INK, RULE, SOFT
from app.reporting.sweep import words
from app.reporting.sweep.report import JobRow, Spread, SweepReport

PANELS, ROWS = 4, 60
"""Numbers and jobs that are drawn."""


def measures(report: SweepReport) -> Figure | None:
    """The foremost numbers of each job with their intervals, a panel a number; None if there is none."""
    spreads = [each for each in words.foremost(report) if each.n][:PANELS]
    jobs = [each for each in report.jobs if each.values][:ROWS]
    if not spreads or not jobs:
        return None
    size = 3.0 + 2.5 * len(spreads), 1.5 + 0.3 * max(len(jobs), 3)
    figure = Figure(figsize=size, dpi=144, layout=ConstrainedLayoutEngine(wspace=0.06))
    figure.suptitle(
        f"Numbers of {plural(len(jobs), 'job')}, {short(report.subject.name, 60)}",
        x=0.01,
        ha="left",
        fontsize=11,
        fontweight="bold",
        color=INK,
    )
    panels = figure.subplots(1, len(spreads), sharey=True, squeeze=False)[0]
    for axes, spread in zip(panels, spreads, strict=True):
        _panel(axes, spread, jobs)
    panels[0].set_yticks(range(len(jobs)), [short(each.label or f"job {each.job}", 44) for each in jobs])
    panels[0].set_ylim(len(jobs) - 0.4, -0.6)
    return figure


def _panel(axes: Axes, spread: Spread, jobs: list[JobRow]) -> None:
    factor = 100 if spread.unit == "share" else 1
    for y, each in enumerate(jobs):
        value = each.values.get(spread.key)
        if value is None or not defined(value.value):
            continue
        if value.interval is not None:
            axes.plot([factor * end for end in value.interval], (y, y), color=GOOD, linewidth=1.4, alpha=0.65)
        full = spread.best in {None, each.job}
        axes.plot(factor * value.value, y, "o", color=GOOD, markersize=5.5, mfc=GOOD if full else "white")
    axes.set_title(f"{spread.title}{', %' if factor == 100 else ''}", loc="left", fontsize=9, color=INK)
    axes.grid(axis="x", color=RULE, linewidth=0.6)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.margins(x=0.08)
    axes.locator_params(axis="x", nbins=5)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelcolor=SOFT, labelsize=8)
    axes.tick_params(axis="y", labelcolor=INK)
