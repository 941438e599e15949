"""Figures of a detector's evaluation, as PNG files for other documents and for the store."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from app.report.words import defined, percent, plural, short
from app.reporting.detection_eval.canvas import mean_curve, picked
from app.reporting.detection_eval.report import DetectionReport

INK, SOFT, RULE, GOOD, BAD = "#1b2430", "#556070", "#cfd5dd", "#2b6cad", "#c2570c"
STYLES = ("-", "--", ":")


def precision_recall(report: DetectionReport) -> Figure | None:
    """Precision over recall: the mean of the classes, the weakest and the best; None without classes."""
    if not report.curves:
        return None
    figure, axes = _square(
        "Precision over recall", f"{short(report.subject.name, 60)}, IoU {report.settings.iou:g}"
    )
    recall = np.linspace(0, 100, len(report.curves[0].precision))
    if len(report.curves) > 1:
        for colour, found in zip((BAD, GOOD), picked(report.curves), strict=True):
            for style, each in zip(STYLES, found, strict=False):
                axes.plot(
                    *(recall, 100 * np.array(each.precision), style),
                    color=colour,
                    linewidth=1.4,
                    label=f"{short(each.name, 30)} ({percent(each.ap)})",
                )
    classes = plural(len(report.curves), "class", "classes")
    axes.plot(
        recall,
        100 * np.array(mean_curve(report.curves)),
        color=INK,
        linewidth=2.4,
        label=f"mean of {classes}",
    )
    axes.set(xlabel="recall, %", ylabel="precision, %")
    axes.legend(frameon=False, fontsize=8, labelcolor=INK)
    return figure


def reliability(report: DetectionReport) -> Figure | None:
    """Share of right detections by score; None without detections."""
    bins = [each for each in report.reliability if each.n and defined(each.score)]
    if not bins:
        return None
    figure, axes = _square(
        "Right detections by score", f"{short(report.subject.name, 60)}, ECE {percent(report.summary.ece, 1)}"
    )
    left = [100 * each.low for each in bins]
    wide = [100 * (each.high - each.low) - 1 for each in bins]
    axes.bar(left, [100 * each.right for each in bins], wide, align="edge", color=GOOD, label="right")
    axes.hlines(
        [100 * each.score for each in bins],
        left,
        [a + b for a, b in zip(left, wide, strict=True)],
        color=BAD,
        linewidth=2,
        label="mean score",
    )
    axes.plot((0, 100), (0, 100), "--", color=SOFT, linewidth=1)
    axes.set(xlabel="score, %", ylabel="right, %")
    axes.legend(frameon=False, fontsize=8, labelcolor=INK)
    return figure


def _square(title: str, subtitle: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(6.4, 5.4), dpi=144, layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(f"{title}\n", loc="left", fontsize=11, fontweight="bold", color=INK)
    axes.annotate(subtitle, (0, 1), (0, 6), "axes fraction", "offset points", fontsize=8.5, color=SOFT)
    axes.set(xlim=(0, 100), ylim=(0, 102))
    axes.grid(color=RULE, linewidth=0.6)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelcolor=INK, labelsize=8)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set(color=SOFT, fontsize=8.5)
    return figure, axes
