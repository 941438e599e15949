"""Where numbers and their intervals lie on a small canvas: the arithmetic behind the pictures of the front page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.report.words import defined, number, percent, percent_interval
from app.reporting.checkup.previous import TITLES
from app.reporting.checkup.report import CheckupReport, Number
from app.reporting.plot import Tick, steps

WIDTH, LEFT, RIGHT, TOP, ROW = 460, 12.0, 448.0, 6.0, 46.0
"""The canvas: its width, where the axis begins and ends, the first row, and the height of a row."""


@dataclass(frozen=True)
class Mark:
    """A number on a row."""

    x: float
    """Where it is, from the left."""
    y: float
    """Where it is, from the top."""
    low: float | None
    """Where its interval begins; None without one."""
    high: float | None
    """Where that ends."""
    look: str
    """`now`, `then` or `truth`."""


@dataclass(frozen=True)
class Row:
    """A line of the picture."""

    y: float
    """Where its words stand."""
    name: str
    """What it is about."""
    value: str
    """The number in words."""
    marks: tuple[Mark, ...]
    """What is on it."""


@dataclass(frozen=True)
class Ranges:
    """Numbers with their intervals, a row each, over one axis."""

    rows: tuple[Row, ...]
    """From top to bottom."""
    ticks: tuple[Tick, ...]
    """Labels below, with a grid line each."""
    bottom: float
    """Where the rows end."""
    height: float
    """Of the canvas."""


@dataclass(frozen=True)
class Line:
    """What a row shall show."""

    name: str
    """What it is about."""
    value: str
    """The number in words."""
    marks: tuple[tuple[str, Number], ...]
    """Look and number of each mark."""


def ranges(lines: Sequence[Line], low: float | None = None, high: float | None = None) -> Ranges | None:
    """The lines on a canvas; None if there is nothing to show.

    Args:
        lines: from top to bottom.
        low: where the axis begins; None for below the smallest number.
        high: where it ends; None for above the largest.
    """
    ends = [
        end
        for line in lines
        for _, each in line.marks
        for end in (each.value, *(each.ci or ()))
        if end is not None and defined(end)
    ]
    if not ends:
        return None
    at = steps(min(ends) if low is None else low, max(ends) if high is None else high, 4)
    first, last = (
        (max(at[0], 0.0), min(at[-1], 1.0)) if min(ends) >= 0 and max(ends) <= 1 else (at[0], at[-1])
    )
    if last <= first:
        first, last = first - 0.01, last + 0.01

    def x(value: float) -> float:
        return round(LEFT + (RIGHT - LEFT) * (value - first) / (last - first), 1)

    def mark(look: str, each: Number, y: float) -> Mark:
        known = each.ci if each.ci is not None and defined(sum(each.ci)) else None
        low, high = (None, None) if known is None else (x(known[0]), x(known[1]))
        return Mark(x(each.value or 0.0), y, low, high, look)

    def row(line: Line, top: float) -> Row:
        looks = [look for look, _ in line.marks]
        apart = 4.0 if {"then", "now"} <= set(looks) else 0.0
        heights = {"then": top + 31 - apart, "now": top + 31 + apart}
        marks = [
            mark(look, each, heights.get(look, top + 31)) for look, each in line.marks if defined(each.value)
        ]
        return Row(top + 17, line.name, line.value, tuple(marks))

    rows = tuple(row(line, TOP + ROW * place) for place, line in enumerate(lines))
    bottom = TOP + ROW * len(lines)
    ticks = tuple(Tick(x(value), percent(value)) for value in at if first - 1e-9 <= value <= last + 1e-9)
    return Ranges(rows, ticks, bottom, bottom + 24)


def operation(report: CheckupReport) -> Ranges | None:
    """Accuracy on the test set and in operation; None without an estimate."""
    found = report.summary.get("operational_accuracy")
    if found is None or not defined(found.value):
        return None
    lines = []
    tested = report.summary.get("accuracy")
    if tested is not None and defined(tested.value):
        lines.append(Line("On the test set", in_words(tested), (("then", tested),)))
    truth = report.summary.get("operational_truth")
    marks = [("now", found)] + ([("truth", truth)] if truth is not None and defined(truth.value) else [])
    lines.append(Line("In operation", in_words(found), tuple(marks)))
    return ranges(lines)


def since(report: CheckupReport) -> Ranges | None:
    """Every headline number, then and now if there was a checkup before, on one axis up to 1."""
    if report.previous is None:
        return ranges(_start(report), high=1.0)
    lines = [
        Line(
            each.title,
            f"{_value(each.key, each.before)} → {_value(each.key, each.after)}",
            (("then", _share(each.key, each.before)), ("now", _share(each.key, each.after))),
        )
        for each in report.previous.changes
    ]
    return ranges(lines, high=1.0)


def _start(report: CheckupReport) -> list[Line]:
    return [
        Line(title, _value(key, found), (("now", _share(key, found)),))
        for key, title in TITLES.items()
        if (found := report.summary.get(key)) is not None and defined(found.value)
    ]


def _share(key: str, each: Number) -> Number:
    if key != "autopsy_score" or each.value is None:
        return each
    return Number(each.value / 100)


def _value(key: str, each: Number) -> str:
    return number(each.value, 1) if key == "autopsy_score" else percent(each.value, 1)


def in_words(each: Number) -> str:
    """A share with its interval: '82.0 % (79.1–84.9 %)'."""
    ends = percent_interval(each.ci, 1)
    return percent(each.value, 1) if each.ci is None else f"{percent(each.value, 1)} ({ends})"
