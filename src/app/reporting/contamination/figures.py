"""The figure of contamination, as a PNG file for other documents and for the store."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from app.report.words import short
from app.reporting.contamination.report import ContaminationReport

INK, SOFT, RULE = "#1b2430", "#556070", "#cfd5dd"
LINES = ("#2b6cad", "#c2570c", "#187a63", "#8f4f86", "#7a6a12", "#56606d")
"""Told apart with the common kinds of colour blindness."""


def distances(report: ContaminationReport) -> Figure:
    """Pairs of pictures at each distance of their hashes, a line for each two splits."""
    figure = Figure(figsize=(8.0, 4.4), dpi=144, layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(
        "Pairs of pictures by the distance of their hashes\n",
        loc="left",
        fontsize=11,
        fontweight="bold",
        color=INK,
    )
    axes.annotate(
        short(report.subject.name, 80),
        (0, 1),
        (0, 6),
        "axes fraction",
        "offset points",
        fontsize=8.5,
        color=SOFT,
    )
    shown = [each for each in report.between if sum(each.histogram)][: len(LINES)]
    for colour, each in zip(LINES, shown, strict=False):
        name = each.first if each.first == each.second else f"{each.first} × {each.second}"
        style = ":" if each.first == each.second else "-"
        counts = np.array(each.histogram, dtype=np.float64)
        axes.plot(
            np.where(counts > 0, counts, np.nan),
            style,
            color=colour,
            linewidth=1.6,
            marker="o",
            markersize=2.6,
            label=short(name, 50),
        )
    for limit, word in ((report.settings.near_distance, "near"), (report.settings.weak_distance, "weak")):
        axes.axvline(limit + 0.5, color=RULE, linewidth=1)
        axes.annotate(
            word,
            (limit + 0.5, 1),
            (-3, -9),
            ("data", "axes fraction"),
            "offset points",
            ha="right",
            fontsize=8,
            color=SOFT,
        )
    if shown:
        axes.set_yscale("log")
        axes.legend(frameon=False, fontsize=8, labelcolor=INK)
    axes.set(xlim=(-0.5, 64.5), xlabel="bits that differ", ylabel="pairs")
    axes.grid(axis="y", color=RULE, linewidth=0.6)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelcolor=INK, labelsize=8)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set(color=SOFT, fontsize=8.5)
    return figure
