"""Figures of an autopsy, as PNG files for other documents and for the store."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from app.report.words import count, percent, plural, short
from app.reporting.autopsy import drawing
from app.reporting.autopsy.report import AutopsyReport
from app.reporting.figures import BAD, GOOD, INK, LINES, RULE, SCALE, SOFT

NUMBERED = 25
"""Up to so many classes the cells of the confusion matrix hold numbers."""


def reliability(report: AutopsyReport) -> Figure:
    """Share of right predictions over confidence, with the gap to what was promised, and how many there are."""
    figure = Figure(figsize=(5.6, 6.0), dpi=144, layout="constrained")
    axes, below = figure.subplots(2, 1, height_ratios=(5, 1), sharex=True)
    _title(
        axes,
        "Reliability",
        f"{short(report.subject.name, 50)}: calibration error {percent(report.summary.ece, 1)}",
    )
    for each in report.calibration.bins:
        width, centre = each.high - each.low, (each.low + each.high) / 2
        below.bar(centre, each.n, width * 0.94, color=SOFT)
        if each.accuracy is None or each.confidence is None:
            continue
        axes.bar(centre, each.accuracy, width * 0.94, color=GOOD)
        over = each.confidence > each.accuracy
        axes.bar(
            centre,
            each.confidence - each.accuracy,
            width * 0.94,
            bottom=each.accuracy,
            color=BAD if over else GOOD,
            alpha=0.4,
        )
        if each.accuracy_ci is not None:
            axes.plot((centre, centre), each.accuracy_ci, color=INK, linewidth=1.2)
    axes.plot((0, 1), (0, 1), color=SOFT, linewidth=1, linestyle="--")
    axes.set(xlim=(0, 1), ylim=(0, 1), ylabel="right")
    below.set(xlabel="confidence", ylabel="predictions")
    for each_axes in (axes, below):
        _sober(each_axes)
    return figure


def confusion(report: AutopsyReport) -> Figure:
    """The confusion matrix, row by row as shares of the class: blue is right, orange is confused."""
    grid = drawing.grid(report)
    size = len(grid.names)
    side = float(np.clip(2.6 + 0.3 * size, 5.0, 16.0))
    figure = Figure(figsize=(side, side), dpi=144, layout="constrained")
    axes = figure.add_subplot()
    rest = f", the {count(size)} classes with the most errors" if grid.left_out else ""
    _title(
        axes, "Confusion", f"{short(report.subject.name, 50)}: labels in rows, predictions in columns{rest}"
    )
    shades = np.full((size, size), np.nan)
    for cell in grid.cells:
        shades[cell.row, cell.column] = cell.step / 10
    axes.imshow(np.ma.masked_invalid(shades), cmap=SCALE, vmin=0, vmax=1)
    font = float(np.clip(520 / max(size, 1), 4.5, 8.0))
    if size <= NUMBERED:
        for cell in grid.cells:
            ink = "white" if cell.step in {0, 10} else INK
            axes.text(cell.column, cell.row, str(cell.count), ha="center", va="center", fontsize=7, color=ink)
    names = [short(name, 24) for name in grid.names]
    axes.set_xticks(range(size), names, rotation=90)
    axes.set_yticks(range(size), names)
    _sober(axes)
    axes.tick_params(labelsize=font)
    return figure


def embedding(report: AutopsyReport) -> Figure | None:
    """The embeddings in the plane, right predictions by class and errors on top; None without embeddings."""
    found = report.embeddings
    if found is None or not found.cases:
        return None
    figure = Figure(figsize=(8.4, 5.8), dpi=144, layout="constrained")
    axes = figure.add_subplot()
    _title(axes, "Embeddings", f"{short(report.subject.name, 50)}: {plural(len(found.cases), 'test case')}")
    x, y = np.array(found.x), np.array(found.y)
    labels, right = np.array(found.labels), np.array(found.right, dtype=np.bool_)
    present = np.unique(labels[right]).tolist()
    if len(present) > 2 * drawing.COLOURED:
        axes.scatter(x[right], y[right], s=9, color=SOFT, alpha=0.5, linewidths=0, label="right")
    else:
        for number, label in enumerate(present):
            here = right & (labels == label)
            pale = number >= drawing.COLOURED
            axes.scatter(
                x[here],
                y[here],
                s=7 if pale else 12,
                color=LINES[number % len(LINES)],
                alpha=0.5 if pale else 0.85,
                linewidths=0,
                label=short(report.per_class[label].name, 30),
            )
    axes.scatter(x[~right], y[~right], s=16, color=INK, marker="x", linewidths=0.9, label="wrong")
    axes.set(xticks=[], yticks=[])
    _sober(axes)
    axes.legend(frameon=False, fontsize=7.5, loc="center left", bbox_to_anchor=(1.0, 0.5), labelcolor=INK)
    return figure


def _title(axes: Axes, title: str, subtitle: str) -> None:
    axes.set_title(f"{title}\n", loc="left", fontsize=11, fontweight="bold", color=INK)
    axes.annotate(subtitle, (0, 1), (0, 6), "axes fraction", "offset points", fontsize=8.5, color=SOFT)


def _sober(axes: Axes) -> None:
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelcolor=INK, labelsize=8)
    axes.yaxis.grid(visible=False)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set(color=SOFT, fontsize=8.5)
    axes.patch.set_edgecolor(RULE)
