"""Positions of the page's drawings: precision over recall, and how far scores can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.report.words import count, defined, percent, plural
from app.reporting.detection_eval.report import Bin, Curve
from app.reporting.plot import Tick

WIDTH, HEIGHT = 480, 346
LEFT, RIGHT, TOP, BOTTOM = 44.0, 468.0, 32.0, 300.0
EXTREMES = 3
"""So many of the weakest and of the best classes are drawn."""
TICKS = tuple(value / 4 for value in range(5))


def across(value: float) -> float:
    """Where a fraction lies from left to right."""
    return round(LEFT + (RIGHT - LEFT) * value, 1)


def up(value: float) -> float:
    """Where a fraction lies from the bottom to the top."""
    return round(BOTTOM - (BOTTOM - TOP) * value, 1)


X_TICKS = tuple(Tick(across(value), f"{100 * value:.0f}") for value in TICKS)
Y_TICKS = tuple(Tick(up(value), f"{100 * value:.0f}") for value in TICKS)


@dataclass(frozen=True)
class Line:
    """One curve."""

    name: str
    """What the legend says."""
    points: str
    """As a polyline has them."""
    look: str
    """`mean`, `weak` or `good`."""
    place: int
    """Among those of its look: gives the dash."""


@dataclass(frozen=True)
class Column:
    """One bin of the reliability diagram."""

    x: float
    """Left edge."""
    width: float
    """Of the column."""
    right: float
    """Height of the share that is right, as a position."""
    score: float
    """Height of the mean score, as a position."""
    opacity: float
    """More for more detections."""
    label: str
    """What it says."""


def mean_curve(curves: Sequence[Curve]) -> tuple[float, ...]:
    """The mean precision of the classes at each recall; empty without classes."""
    return tuple(
        sum(column) / len(curves) for column in zip(*(each.precision for each in curves), strict=True)
    )


def picked(curves: Sequence[Curve]) -> tuple[list[Curve], list[Curve]]:
    """The weakest and the best classes; none is both."""
    order = sorted(curves, key=lambda each: each.ap)
    few = len(order) // 2 if len(order) < 2 * EXTREMES else EXTREMES
    return order[: len(order) - few][:EXTREMES], order[len(order) - few :][::-1]


def lines(curves: Sequence[Curve]) -> tuple[Line, ...]:
    """The mean of all classes, the weakest and the best ones; the mean first."""
    if not curves:
        return ()
    mean = mean_curve(curves)
    average = sum(each.ap for each in curves) / len(curves)
    weak, good = picked(curves)
    if len(curves) == 1:
        return (Line(f"{curves[0].name} ({percent(average)})", _points(mean), "mean", 0),)
    drawn = [
        Line(
            f"mean of {plural(len(curves), 'class', 'classes')} ({percent(average)})",
            _points(mean),
            "mean",
            0,
        )
    ]
    for look, found in (("weak", weak), ("good", good)):
        drawn += [
            Line(f"{each.name} ({percent(each.ap)})", _points(each.precision), look, place)
            for place, each in enumerate(found)
        ]
    return tuple(drawn)


def _points(precision: Sequence[float]) -> str:
    last = len(precision) - 1
    return " ".join(f"{across(place / last)},{up(value)}" for place, value in enumerate(precision))


def columns(bins: Sequence[Bin]) -> tuple[Column, ...]:
    """The bins that hold detections."""
    most = max((each.n for each in bins), default=0)
    return tuple(
        Column(
            x=across(each.low) + 1,
            width=round(across(each.high) - across(each.low) - 2, 1),
            right=up(each.right),
            score=up(each.score),
            opacity=round(0.35 + 0.65 * (each.n / most) ** 0.5, 2),
            label=f"{count(each.n)} detections, mean score {percent(each.score)}, {percent(each.right)} right",
        )
        for each in bins
        if each.n and defined(each.score)
    )
