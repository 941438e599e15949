"""Figures of detector scores, as PNG files for other documents and for the store."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from app.report.words import defined, per_cent, plural, short
from app.reporting.figures import INK, LINES, RULE, SCALE, SOFT, STYLES, WASH
from app.reporting.uamt.curves import Curve, Grid, Panel, grids, panels, tint
from app.reporting.uamt.report import UamtReport

MOST_CURVES, MOST_OPERATORS = 12, 6


def score_over_rate(report: UamtReport) -> Figure | None:
    """Obj-MS, MS_iou and the images that notice over the injected rate, with bands; None without any curve."""
    drawn = panels(report.mutants)
    if not drawn:
        return None
    figure = Figure(figsize=(10.0, 7.4), dpi=144, layout="constrained")
    figure.suptitle(
        f"Scores over the injected rate: {short(report.subject.name, 60)}\n",
        fontsize=11,
        fontweight="bold",
        color=INK,
        x=0.01,
        ha="left",
    )
    for place, panel in enumerate(drawn):
        _panel(figure.add_subplot(2, 2, place + 1), panel)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    total = len(drawn[0].curves)
    rest = f"the first {MOST_CURVES} of {plural(total, 'curve')}" if total > MOST_CURVES else None
    legend = figure.legend(
        handles,
        labels,
        loc="outside lower left",
        ncols=3,
        frameon=False,
        fontsize=8,
        labelcolor=INK,
        title=rest,
    )
    legend.get_title().set(fontsize=8, color=SOFT)
    return figure


def _panel(axes: Axes, panel: Panel) -> None:
    for place, curve in enumerate(panel.curves[:MOST_CURVES]):
        _curve(axes, curve, LINES[place % len(LINES)], STYLES[place // len(LINES) % len(STYLES)])
    axes.set_title(f"{panel.score.title}, %", loc="left", fontsize=9.5, color=INK)
    rates = sorted({point.rate for curve in panel.curves for point in curve.points})
    if 0 < len(rates) <= 12:
        axes.set_xticks(rates, [f"{rate:g}" for rate in rates])
    axes.set_ylim(bottom=min(0.0, axes.dataLim.y0))
    axes.set_xlabel("rate")
    axes.grid(axis="y", color=RULE, linewidth=0.6)
    _sober(axes)


def _curve(axes: Axes, curve: Curve, colour: str, style: str) -> None:
    rates = [point.rate for point in curve.points]
    values = [100 * point.value for point in curve.points]
    axes.plot(
        rates,
        values,
        style,
        color=colour,
        marker="o",
        markersize=3,
        linewidth=1.6,
        label=short(curve.name, 50),
    )
    ends = [point.interval or (point.value, point.value) for point in curve.points]
    axes.fill_between(
        rates,
        [100 * low for low, _ in ends],
        [100 * high for _, high in ends],
        color=colour,
        alpha=0.13,
        linewidth=0,
    )


def heat_map(report: UamtReport) -> Figure | None:
    """Each score by rate and block, one row of grids an operator; None where no operator has blocks."""
    found = grids(report.mutants)
    shown = found[:MOST_OPERATORS]
    if not shown:
        return None
    wide = max(len(grid.blocks) for _, row in shown for grid in row)
    tall = sum(max(len(row[0].rates), 2) for _, row in shown)
    size = (3.0 + 4 * max(0.5 * wide, 1.9), 1.0 + 0.32 * tall + 1.1 * len(shown))
    figure = Figure(figsize=size, dpi=144, layout="constrained")
    title = f"Scores by rate and block, %: {short(report.subject.name, 60)}\n"
    figure.suptitle(title, fontsize=11, fontweight="bold", color=INK, x=0.01, ha="left")
    for line, (name, row) in enumerate(shown):
        for column, grid in enumerate(row):
            axes = figure.add_subplot(len(shown), len(row), line * len(row) + column + 1)
            _cells(axes, grid, f"{short(name, 30)}, rate" if column == 0 else "")
    return figure


def _cells(axes: Axes, grid: Grid, label: str) -> None:
    for y, row in enumerate(grid.cells):
        for x, value in enumerate(row):
            if value is None:
                continue
            step = tint(value, grid.top) if defined(value) else None
            face = WASH if step is None else SCALE(step / 10)
            axes.add_patch(Rectangle((x - 0.48, y - 0.46), 0.96, 0.92, facecolor=face, linewidth=0))
            ink = "white" if step == 10 else INK
            axes.text(x, y, per_cent(value), ha="center", va="center", fontsize=7.5, color=ink)
    axes.set(xlim=(-0.5, max(len(grid.blocks), 1) - 0.5), ylim=(max(len(grid.rates), 1) - 0.5, -0.5))
    axes.set_title(grid.title, loc="left", fontsize=9, color=INK)
    axes.set_yticks(range(len(grid.rates)), [f"{rate:g}" for rate in grid.rates])
    axes.set_xticks(range(len(grid.blocks)), [str(block) for block in grid.blocks])
    axes.set(xlabel="block", ylabel=label)
    _sober(axes)


def _sober(axes: Axes) -> None:
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelcolor=INK, labelsize=8)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set(color=SOFT, fontsize=8.5)
