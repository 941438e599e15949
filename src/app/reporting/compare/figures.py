"""The picture of a comparison, as a PNG file for other documents and for the store."""

from __future__ import annotations

from matplotlib.figure import Figure

from app.comparison.results import Delta
from app.report.words import defined, short
from app.reporting.compare import words
from app.reporting.compare.forest import SHOWN, points_of
from app.reporting.compare.report import CompareReport
from app.reporting.figures import BAD, GOOD, INK, RULE, SOFT

MOST = 40
"""Differences in the picture."""
GREY = "#8a95a3"


def differences(report: CompareReport) -> Figure | None:
    """The differences that stand for the reports, with their intervals; None if there are none to draw."""
    drawn = [
        each for each in report.deltas if each.headline and each.unit in SHOWN and defined(each.difference)
    ]
    if not drawn:
        return None
    drawn = drawn[:MOST]
    figure = Figure(figsize=(8.0, 1.7 + 0.36 * max(len(drawn), 2)), dpi=144, layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(
        f"{words.headline(report).sentence}\n", loc="left", fontsize=10, fontweight="bold", color=INK
    )
    subtitle = (
        f"{short(report.before.subject, 40)} → {short(report.after.subject, 40)}; whiskers: 95 % intervals"
    )
    axes.annotate(subtitle, (0, 1), (0, 6), "axes fraction", "offset points", fontsize=8.5, color=SOFT)
    axes.axvline(0, color=INK, linewidth=0.8, zorder=1)
    for y, each in enumerate(drawn):
        at, colour = points_of(each, each.difference or 0.0), colour_of(each)
        if each.ci is not None:
            axes.plot(
                [points_of(each, end) for end in each.ci], (y, y), color=colour, linewidth=1.6, marker="|"
            )
        axes.plot(at, y, "o", color=colour, markersize=6, zorder=3)
    axes.set(ylim=(len(drawn) - 0.4, -0.6), xlabel="points; better is at the right")
    axes.set_yticks(range(len(drawn)), [short(each.title, 44) for each in drawn])
    low, high = axes.get_xlim()
    reach = max(abs(low), abs(high), 0.5)
    axes.set_xlim(-reach, reach)
    axes.grid(axis="x", color=RULE, linewidth=0.7)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelcolor=INK, labelsize=8)
    axes.xaxis.label.set(color=SOFT, fontsize=8.5)
    return figure


def colour_of(delta: Delta) -> str:
    """Blue for the better, orange for the worse, grey for what chance explains."""
    return {"better": GOOD, "worse": BAD}.get(delta.judgement, GREY)
