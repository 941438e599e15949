"""Figures of an estimate, as PNG files for other documents and for the store."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from app.report.words import defined, number, short
from app.reporting.estimate.charts import MOST_LINES, numbered
from app.reporting.estimate.report import EstimateReport, PopulationBlock, ResultRow
from app.reporting.estimate.words import mean_ratio
from app.reporting.figures import GOOD, INK, LINES, RULE, SOFT, STYLES

_COLUMNS = 3


def drawn(report: EstimateReport) -> dict[str, Figure]:
    """The figures that a report has something to show in, by name."""
    made = {
        "pareto": pareto(report),
        "over_budget": over_budget(report),
        "failure_curves": failure_curves(report),
    }
    return {name: figure for name, figure in made.items() if figure is not None}


def pareto(report: EstimateReport) -> Figure | None:
    """Error against failures found, a panel for each population; None without results."""
    numbers, budget = numbered(report), max(report.settings.budgets)
    rows = [row for row in report.results if row.budget == budget and defined(row.rmse_ratio_srs)]
    rows = [row for row in rows if row.rmse_ratio_srs > 0]
    subjects = list(dict.fromkeys(row.subject for row in rows))
    if not subjects:
        return None
    figure, grid = _panels(len(subjects), f"Error against failures found, {budget} labels", 3.1)
    for axes, subject in zip(grid, subjects, strict=True):
        _dots(axes, [row for row in rows if row.subject == subject], numbers)
        axes.set_title(short(subject, 40), loc="left", fontsize=9.5, color=INK)
    key = "   ".join(f"{place}\u00a0{name}" for name, place in numbers.items())
    figure.supxlabel(key, fontsize=7.5, color=SOFT, wrap=True)
    return figure


def _dots(axes: Axes, rows: Sequence[ResultRow], numbers: dict[str, int]) -> None:
    for row in rows:
        face = GOOD if row.on_front else "white"
        place = (row.rmse_ratio_srs, row.failures_mean)
        axes.plot(*place, "o", markersize=11, color=face, markeredgecolor=GOOD if row.on_front else SOFT)
        ink = "white" if row.on_front else INK
        axes.annotate(str(numbers[row.estimator]), place, ha="center", va="center", fontsize=6.5, color=ink)
    axes.set_xscale("log")
    axes.axvline(1.0, color=RULE, linewidth=1, linestyle="--", zorder=0)
    low, high = axes.get_xlim()
    ticks = [t for t in (0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5) if low <= t <= high]
    axes.set_xticks(ticks, [f"{t:g}" for t in ticks])
    axes.set_xticks([], minor=True)
    axes.set_ylim(0, 1.08 * axes.get_ylim()[1])
    axes.set(xlabel="error, random sampling = 1", ylabel="failures found")
    _sober(axes)


def over_budget(report: EstimateReport) -> Figure | None:
    """Error ratio and failures over the budget, in the mean over populations; None for a single budget."""
    budgets = report.settings.budgets
    if len(budgets) < 2 or not report.results:
        return None
    figure, grid = _panels(2, "Over the budget, in the mean over populations", 3.6)
    for place, name in enumerate(list(numbered(report))[:MOST_LINES]):
        found = {n: [r for r in report.results if (r.estimator, r.budget) == (name, n)] for n in budgets}
        at = [n for n in budgets if found[n]]
        ratios = [mean_ratio(found[n]) for n in at]
        failures = [sum(r.failures_mean for r in found[n]) / len(found[n]) for n in at]
        style = f"o{STYLES[place // len(LINES) % len(STYLES)]}"
        for axes, values in zip(grid, (ratios, failures), strict=True):
            axes.plot(
                at, values, style, color=LINES[place % len(LINES)], markersize=3.5, label=short(name, 30)
            )
    for axes, label in zip(grid, ("error, random sampling = 1", "failures found"), strict=True):
        axes.set_xscale("log")
        axes.set_xticks(budgets, [str(n) for n in budgets])
        axes.set_xticks([], minor=True)
        axes.set_ylim(bottom=0)
        axes.set(xlabel="labels", ylabel=label)
        _sober(axes)
    grid[0].legend(frameon=False, fontsize=8, labelcolor=INK)
    return figure


def failure_curves(report: EstimateReport) -> Figure | None:
    """Failure over each auxiliary variable of each population; None where outcomes are not known."""
    pairs = [
        (block, variable)
        for block in report.populations
        for variable in block.variables
        if defined(variable.slope)
    ][:36]
    if not pairs:
        return None
    figure, grid = _panels(len(pairs), "Failure rate over the auxiliary variables, %", 2.1)
    for axes, (block, variable) in zip(grid, pairs, strict=True):
        at = np.linspace(variable.low, variable.high, 101)
        curve = 100 / (1 + np.exp(-np.clip(variable.intercept + variable.slope * at, -60, 60)))
        axes.plot(at, curve, color=GOOD, linewidth=1.6)
        axes.plot(
            variable.bin_centres, [100 * r for r in variable.bin_rates], "o", color=LINES[1], markersize=3
        )
        axes.set_title(_caption(block, variable.name, variable.auc), loc="left", fontsize=7.5, color=INK)
        axes.set_ylim(bottom=0)
        _sober(axes)
    return figure


def _caption(block: PopulationBlock, name: str, auc: float) -> str:
    return f"{short(block.name, 24)}: {short(name, 16)}, AUC {number(auc, 3)}"


def _panels(count: int, title: str, height: float) -> tuple[Figure, list[Axes]]:
    columns = min(_COLUMNS, count)
    lines = math.ceil(count / columns)
    figure = Figure(figsize=(max(3.6 * columns, 5.0), 0.6 + height * lines), dpi=110, layout="constrained")
    figure.suptitle(f"{title}\n", fontsize=11, fontweight="bold", color=INK, x=0.01, ha="left")
    return figure, [figure.add_subplot(lines, columns, place + 1) for place in range(count)]


def _sober(axes: Axes) -> None:
    for side in axes.spines.values():
        side.set_visible(False)
    axes.grid(color=RULE, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelcolor=INK, labelsize=7.5)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set(color=SOFT, fontsize=8)
