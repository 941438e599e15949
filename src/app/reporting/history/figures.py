"""A figure a series over time, as PNG files for other documents and for the store."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from app.report.words import plural, short
from app.reporting.history import charts, words
from app.reporting.history.report import HistoryReport, Series

INK, SOFT, RULE = "#1b2430", "#556070", "#cfd5dd"
LINE, GOOD, BAD, MID = "#2b6cad", "#2b6cad", "#c2570c", "#b9a14a"
RUGS = {"model": "#187a63", "data": "#8f4f86"}
"""Told apart with the common kinds of colour blindness."""


def names(series: Sequence[Series]) -> dict[str, str]:
    """By key, the file names of figures: `over_time_autopsy_accuracy.png`; different keys get different names."""
    found: dict[str, str] = {}
    for each in series:
        stem = "over_time_" + re.sub(r"[^A-Za-z0-9]+", "_", each.key).strip("_")[:60]
        name, number = f"{stem}.png", 1
        while name in found.values():
            number += 1
            name = f"{stem}_{number}.png"
        found[each.key] = name
    return found


def over_time(series: Series, report: HistoryReport) -> Figure:
    """A series with its intervals, levels, changes of level, and runs with another model or other data."""
    scale = 100 if series.unit == "share" else 1
    values = _numbers([each.value for each in series.points]) * scale
    low = _numbers([each.low for each in series.points]) * scale
    high = _numbers([each.high for each in series.points]) * scale
    places = np.arange(values.size)
    figure = Figure(figsize=(8.0, 3.6), dpi=120)
    figure.subplots_adjust(left=0.085, right=0.98, top=0.84, bottom=0.13)  # a layout of its own draws twice
    axes = figure.add_subplot()
    _title(axes, series.title, f"{short(report.subject.name, 60)}: {words.trend(series)}")
    axes.fill_between(places, low, high, color=LINE, alpha=0.13, linewidth=0)
    few = series.n <= charts.MOST_DOTS
    axes.plot(
        places,
        values,
        color=LINE,
        linewidth=1.6 if few else 1.0,
        marker="o" if few or series.n < 2 else None,
        markersize=3.2,
    )
    _levels(axes, series, scale)
    _ends(axes, series, scale)
    for height, (name, colour) in zip((-0.035, -0.07), RUGS.items(), strict=True):
        ticks = [i for i, run in enumerate(report.runs) if name in run.changed]
        if ticks:
            axes.plot(
                ticks,
                [height] * len(ticks),
                "|",
                color=colour,
                markersize=5,
                transform=axes.get_xaxis_transform(),
                clip_on=False,
                label=f"other {name}: {plural(len(ticks), 'run')}",
            )
    dates = charts.dates([run.time for run in report.runs], float)
    axes.set_xticks([each.at for each in dates], [each.text for each in dates])
    axes.set_ylabel({"share": "per cent", "score": "of 100"}.get(series.unit, ""))
    axes.margins(x=0.02)
    axes.grid(axis="y", color=RULE, linewidth=0.6)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(
            frameon=False,
            fontsize=8,
            labelcolor=INK,
            ncols=4,
            loc="lower right",
            bbox_to_anchor=(1.01, 1.075),
        )
    _sober(axes)
    return figure


def _numbers(values: Sequence[float | None]) -> np.ndarray:
    return np.array([math.nan if each is None else each for each in values], dtype=np.float64)


def _levels(axes: Axes, series: Series, scale: float) -> None:
    found = series.change_points
    if not found:
        return
    starts = [0, *(each.index for each in found)]
    stops = [*(each.index - 1 for each in found), len(series.points) - 1]
    means = [found[0].before, *(each.after for each in found)]
    for start, stop, mean in zip(starts, stops, means, strict=True):
        axes.plot((start, stop), (scale * mean,) * 2, color=INK, alpha=0.55, linewidth=1.2)
    for each in found:
        colour = {"better": GOOD, "worse": BAD}.get(each.kind, MID)
        axes.axvline(each.index, color=colour, linewidth=1.2)
        axes.annotate(
            words.day(each.time),
            (each.index, 1),
            (3, -2),
            ("data", "axes fraction"),
            "offset points",
            fontsize=7.5,
            color=colour,
            va="top",
        )


def _ends(axes: Axes, series: Series, scale: float) -> None:
    """The best, the worst and the newest number."""
    if series.best is not None and series.worst is not None and series.best.value != series.worst.value:
        for extreme, colour, name in ((series.worst, BAD, "worst"), (series.best, GOOD, "best")):
            axes.plot(
                extreme.index,
                scale * extreme.value,
                "o",
                color="white",
                markeredgecolor=colour,
                markeredgewidth=1.8,
                markersize=8.5,
                linestyle="none",
                label=f"{name}: {words.shown(extreme.value, series.unit)}",
            )
    if series.last is not None:
        axes.plot(series.last.index, scale * series.last.value, "o", color=INK, markersize=4)


def _title(axes: Axes, title: str, subtitle: str) -> None:
    axes.set_title(f"{short(title, 70)}\n", loc="left", fontsize=11, fontweight="bold", color=INK)
    axes.annotate(subtitle, (0, 1), (0, 6), "axes fraction", "offset points", fontsize=8.5, color=SOFT)


def _sober(axes: Axes) -> None:
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelcolor=INK, labelsize=8)
    axes.tick_params(axis="x", pad=12)
    axes.yaxis.label.set(color=SOFT, fontsize=8.5)
