"""Positions on the drawings of an estimate's page: error against failures, curves, intervals beside the truth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.report.words import defined, number
from app.reporting.estimate.report import EstimateReport, EstimateRow, ResultRow, Variable
from app.reporting.estimate.words import interval_of, mean_ratio
from app.reporting.plot import DASHES, Tick, steps

WIDTH, HEIGHT = 480, 300
LEFT, RIGHT, TOP, BOTTOM = 42.0, 466.0, 20.0, 250.0
SMALL_WIDTH, SMALL_HEIGHT = 300, 170
ROW = 44.0
"""Height of an estimate with its name above it."""
MOST_LINES = 6
_RATIOS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)


@dataclass(frozen=True)
class Dot:
    """One estimator on the picture of error against failures."""

    number: int
    """Its number in the legend."""
    name: str
    x: float
    y: float
    on_front: bool
    """Whether nobody is better in both."""
    words: str
    """All of it, for whoever points at it."""


@dataclass(frozen=True)
class Pareto:
    """Error against failures on one population."""

    subject: str
    dots: tuple[Dot, ...]
    front: str
    """The front as the points of a line."""
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    one: float | None
    """Where random sampling's error is; None outside the drawing."""


@dataclass(frozen=True)
class Line:
    """One estimator over the budget."""

    name: str
    dash: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Panel:
    """One measure over the budget."""

    title: str
    lines: tuple[Line, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    zero: float | None
    """Height of 0; None below the drawing."""


@dataclass(frozen=True)
class Curve:
    """How failure depends on one auxiliary variable."""

    variable: Variable
    line: str
    """The logistic curve as the points of a line."""
    dots: tuple[tuple[float, float], ...]
    """The groups of cases."""
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]


@dataclass(frozen=True)
class IntervalRow:
    """One estimate beside the truth."""

    row: EstimateRow
    y: float
    x: float
    low: float | None
    high: float | None
    covers: bool | None
    """Whether the interval holds the truth; None without one or the other."""


@dataclass(frozen=True)
class Intervals:
    """All estimates of one population."""

    subject: str
    rows: tuple[IntervalRow, ...]
    truth: float | None
    x_ticks: tuple[Tick, ...]
    height: float


def numbered(report: EstimateReport) -> dict[str, int]:
    """Each estimator's number: the most precise over all populations with the largest budget first."""
    budget = max(report.settings.budgets)
    by_name: dict[str, list[ResultRow]] = {}
    for row in report.results:
        if row.budget == budget:
            by_name.setdefault(row.estimator, []).append(row)
    order = sorted(
        by_name, key=lambda name: (not defined(mean_ratio(by_name[name])), mean_ratio(by_name[name]))
    )
    return {name: place for place, name in enumerate(order, start=1)}


def paretos(report: EstimateReport) -> tuple[Pareto, ...]:
    """Error against failures on each population, with the largest budget."""
    numbers, budget = numbered(report), max(report.settings.budgets)
    drawn = []
    for block in report.populations:
        rows = [
            row
            for row in report.results
            if (row.subject, row.budget) == (block.name, budget) and defined(row.rmse_ratio_srs)
        ]
        rows = [row for row in rows if row.rmse_ratio_srs > 0]
        if rows:
            drawn.append(_pareto(block.name, rows, numbers))
    return tuple(drawn)


def _pareto(subject: str, rows: Sequence[ResultRow], numbers: dict[str, int]) -> Pareto:
    ratios = [row.rmse_ratio_srs for row in rows]
    low, high = math.log(min([*ratios, 0.9]) / 1.15), math.log(max([*ratios, 1.1]) * 1.15)
    heights = steps(0.0, max([1.0, *(row.failures_mean for row in rows)]), 4)

    def x(ratio: float) -> float:
        return round(LEFT + (RIGHT - LEFT) * (math.log(ratio) - low) / (high - low), 1)

    def y(found: float) -> float:
        return round(BOTTOM - (BOTTOM - TOP) * found / heights[-1], 1)

    dots = tuple(
        Dot(
            numbers[row.estimator],
            row.estimator,
            x(row.rmse_ratio_srs),
            y(row.failures_mean),
            row.on_front,
            f"{row.estimator}: error {number(row.rmse_ratio_srs)} of random sampling's, "
            f"{number(row.failures_mean, 1)} failures",
        )
        for row in sorted(rows, key=lambda each: (each.on_front, -numbers[each.estimator]))
    )
    front = sorted((dot for dot in dots if dot.on_front), key=lambda dot: dot.x)
    ticks = [each for each in _RATIOS if low <= math.log(each) <= high]
    return Pareto(
        subject,
        dots,
        " ".join(f"{dot.x},{dot.y}" for dot in front),
        tuple(Tick(x(each), f"{each:g}") for each in ticks),
        tuple(Tick(y(each), number(each, 0 if heights[1] >= 1 else 1)) for each in heights),
        x(1.0),
    )


def panels(report: EstimateReport) -> tuple[Panel, ...]:
    """Error, bias and failures over the budget, in the mean over populations; none for a single budget."""
    budgets = report.settings.budgets
    names = list(numbered(report))[:MOST_LINES]
    if len(budgets) < 2:
        return ()

    def mean(name: str, budget: int, what: str) -> float:
        rows = [row for row in report.results if (row.estimator, row.budget) == (name, budget)]
        if what == "ratio":
            return mean_ratio(rows)
        values = [math.sqrt(row.mse) * 100 if what == "rmse" else getattr(row, what) for row in rows]
        return sum(values) / len(values) * (100 if what == "bias" else 1) if values else math.nan

    measures = (
        ("Error (root mean squared), points", "rmse"),
        ("Error against random sampling", "ratio"),
        ("Bias, points", "bias"),
        ("Failures found", "failures_mean"),
    )
    return tuple(
        _panel(title, {name: [(n, mean(name, n, what)) for n in budgets] for name in names})
        for title, what in measures
    )


def _panel(title: str, curves: dict[str, list[tuple[int, float]]]) -> Panel:
    known = {name: [(n, v) for n, v in points if defined(v)] for name, points in curves.items()}
    values = [v for points in known.values() for _, v in points] or [0.0]
    heights = steps(min(0.0, *values), max(0.0, *values) or 1e-3, 4)
    budgets = sorted({n for points in known.values() for n, _ in points}) or [1]
    low, span = math.log(budgets[0]), math.log(budgets[-1] / budgets[0]) or 1.0

    def x(n: int) -> float:
        return round(LEFT + 14 + (RIGHT - LEFT - 28) * (math.log(n) - low) / span, 1)

    def y(value: float) -> float:
        return round(BOTTOM - (BOTTOM - TOP) * (value - heights[0]) / (heights[-1] - heights[0]), 1)

    digits = max(0, -math.floor(math.log10(heights[1] - heights[0]) + 1e-9))
    return Panel(
        title,
        tuple(
            Line(name, DASHES[place // 6 % len(DASHES)], tuple((x(n), y(v)) for n, v in points))
            for place, (name, points) in enumerate(known.items())
        ),
        tuple(Tick(x(n), f"{n:,}") for n in budgets),
        tuple(Tick(y(value), number(value, digits)) for value in heights),
        y(0.0),
    )


def curves(variables: Sequence[Variable]) -> tuple[Curve, ...]:
    """The failure curves of a population's variables; those of unknown outcomes are left out."""
    return tuple(_curve(each) for each in variables if each.bin_centres and defined(each.slope))


def _curve(variable: Variable) -> Curve:
    low, high = variable.low, variable.high
    span = (high - low) or 1.0
    at = np.linspace(low, high, 61)
    values = 1 / (1 + np.exp(-np.clip(variable.intercept + variable.slope * at, -60, 60)))
    heights = steps(0.0, max(float(values.max()), *variable.bin_rates, 0.02), 3)
    left, right, top, bottom = 36.0, SMALL_WIDTH - 8.0, 12.0, SMALL_HEIGHT - 26.0

    def x(value: float) -> float:
        return round(left + (right - left) * (value - low) / span, 1)

    def y(rate: float) -> float:
        return round(bottom - (bottom - top) * rate / heights[-1], 1)

    middle = (low + high) / 2
    return Curve(
        variable,
        " ".join(f"{x(a)},{y(v)}" for a, v in zip(at.tolist(), values.tolist(), strict=True)),
        tuple((x(c), y(r)) for c, r in zip(variable.bin_centres, variable.bin_rates, strict=True)),
        tuple(Tick(x(each), f"{each:.3g}") for each in dict.fromkeys((low, middle, high))),
        tuple(Tick(y(each), number(100 * each, 0 if heights[1] >= 0.01 else 1)) for each in heights),
    )


def intervals(report: EstimateReport) -> tuple[Intervals, ...]:
    """Each population's estimates with their intervals beside the truth."""
    drawn = []
    for block in report.populations:
        rows = [row for row in report.estimates if row.subject == block.name]
        if rows:
            drawn.append(_intervals(block.name, rows, block.accuracy))
    return tuple(drawn)


def _intervals(subject: str, rows: Sequence[EstimateRow], truth: float) -> Intervals:
    ends = [end for row in rows for end in (row.value, *(interval_of(row) or ()))] + (
        [truth] if defined(truth) else []
    )
    ticks = steps(100 * max(min(ends), 0.0), 100 * min(max(ends), 1.0), 5)
    first, last = ticks[0], max(ticks[-1], ticks[0] + 1e-6)
    left, right = 12.0, 456.0

    def x(value: float) -> float:
        return round(left + (right - left) * min(max((100 * value - first) / (last - first), 0.0), 1.0), 1)

    made = []
    for place, row in enumerate(rows):
        ends_of = interval_of(row)
        covers = None if ends_of is None or not defined(truth) else ends_of[0] <= truth <= ends_of[1]
        low, high = (None, None) if ends_of is None else (x(ends_of[0]), x(ends_of[1]))
        made.append(IntervalRow(row, 36.0 + ROW * place, x(row.value), low, high, covers))
    digits = max(0, -math.floor(math.log10(max(ticks[1] - ticks[0], 1e-6)) + 1e-9)) if len(ticks) > 1 else 0
    return Intervals(
        subject,
        tuple(made),
        x(truth) if defined(truth) else None,
        tuple(Tick(x(each / 100), number(each, digits)) for each in ticks),
        10.0 + ROW * len(rows),
    )
