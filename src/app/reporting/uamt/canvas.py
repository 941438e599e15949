"""Positions of score curves on the canvas of a page: the arithmetic behind its inline drawings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.report.words import number
from app.reporting.plot import DASHES, Tick, steps
from app.reporting.uamt.curves import Curve, Panel

WIDTH, HEIGHT = 480, 250
LEFT, RIGHT, TOP, BOTTOM = 38.0, 470.0, 30.0, 206.0


@dataclass(frozen=True)
class Line:
    """One curve: where it goes."""

    name: str
    """What the legend says."""
    dash: str
    """Dash pattern; empty for a full line."""
    points: tuple[tuple[float, float], ...]
    """From left to right."""
    band: str
    """Outline of its intervals, as the points of a polygon; empty for under two points."""


@dataclass(frozen=True)
class Drawing:
    """One panel with its axes."""

    title: str
    lines: tuple[Line, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]


def drawings(panels: Sequence[Panel], most: int) -> tuple[Drawing, ...]:
    """The panels drawn, at most so many curves each."""
    return tuple(_drawing(panel.score.title, panel.curves[:most]) for panel in panels)


def _drawing(title: str, curves: Sequence[Curve]) -> Drawing:
    points = [point for curve in curves for point in curve.points]
    rates = sorted({point.rate for point in points}) or [0.0]
    ends = [100 * end for point in points for end in (point.value, *(point.interval or ()))]
    values = steps(min([0.0, *ends]), max([5.0, *ends]), 4)
    lowest, highest, span = values[0], values[-1], (rates[-1] - rates[0]) or 1.0

    def x(rate: float) -> float:
        return round(LEFT + 14 + (RIGHT - LEFT - 28) * (rate - rates[0]) / span, 1)

    def y(value: float) -> float:
        return round(BOTTOM - (BOTTOM - TOP) * (100 * value - lowest) / (highest - lowest), 1)

    def line(place: int, curve: Curve) -> Line:
        ends = [(p.rate, *(p.interval or (p.value, p.value))) for p in curve.points]
        outline = [(rate, low) for rate, low, _ in ends] + [(rate, high) for rate, _, high in reversed(ends)]
        band = " ".join(f"{x(rate)},{y(value)}" for rate, value in outline) if len(ends) > 1 else ""
        return Line(
            curve.name,
            DASHES[place // 6 % len(DASHES)],
            tuple((x(p.rate), y(p.value)) for p in curve.points),
            band,
        )

    every = -(-len(rates) // 9)
    return Drawing(
        title,
        tuple(line(place, curve) for place, curve in enumerate(curves)),
        tuple(Tick(x(rate), f"{rate:g}") for rate in rates[::every]),
        tuple(
            Tick(y(value / 100), number(value, 0 if values[1] - values[0] >= 1 else 1)) for value in values
        ),
    )
