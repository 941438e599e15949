"""Positions of curves on the canvas of a page: the arithmetic behind its inline drawing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from app.reporting.curves import Curve, Point
from app.reporting.text import defined, number

LEFT, RIGHT, TOP, BOTTOM, HEIGHT = 44.0, 750.0, 26.0, 250.0, 304
DASHES = ("", "7 4", "2 4")
"""Line styles, so that curves differ by more than their colour; the seventh takes the next style."""


@dataclass(frozen=True)
class Tick:
    """A label on an axis."""

    at: float
    """Position on the canvas."""
    text: str
    """What it says."""


@dataclass(frozen=True)
class Spot:
    """A point with its whisker."""

    x: float
    """Position on the canvas."""
    y: float
    """Position on the canvas."""
    low: float | None
    """Lower end of the whisker; None if there is none."""
    high: float | None
    """Upper end."""


@dataclass(frozen=True)
class Line:
    """One curve."""

    name: str
    """What the legend says."""
    dash: str
    """Line style, as a dash pattern; empty for a full line."""
    points: tuple[Spot, ...]
    """Its points, from left to right."""


@dataclass(frozen=True)
class Plot:
    """Lines with their axes, on a canvas 760 wide."""

    lines: tuple[Line, ...]
    """The curves."""
    x_ticks: tuple[Tick, ...]
    """Labels below."""
    y_ticks: tuple[Tick, ...]
    """Labels at the left, each with a grid line."""
    zero: float
    """Height of no effect."""
    x_name: str = "rate"
    """Name of the horizontal axis."""
    y_name: str = "accuracy drop, points"
    """Name of the vertical axis."""
    left: float = LEFT
    """Where the drawing begins."""
    bottom: float = BOTTOM
    """Where it ends."""
    height: int = HEIGHT
    """Height of the canvas."""


def steps(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers from at most `low` to at least `high`: multiples of 1, 2 or 5 times a power of ten."""
    raw = max(high - low, 1e-9) / about
    power: float = 10.0 ** math.floor(math.log10(raw))
    step = next(f * power for f in (1.0, 2.0, 5.0, 10.0) if f * power >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [i * step for i in range(first, last + 1)]


def plot(curves: Sequence[Curve]) -> Plot | None:
    """The curves on a canvas, effects in percentage points; None for no curve."""
    points = [p for curve in curves for p in curve.points]
    if not points:
        return None
    rates = sorted({p.rate for p in points})
    ends: list[float] = [100 * v for p in points for v in (p.effect, *(p.interval or ())) if defined(v)]
    y_values = steps(min(0.0, *ends), max(1.0, *ends))
    low, high = min(0.0, *ends), y_values[-1]
    span = (rates[-1] - rates[0]) or 1.0

    def x(rate: float) -> float:
        return round(LEFT + 30 + (RIGHT - LEFT - 60) * (rate - rates[0]) / span, 1)

    def y(value: float) -> float:
        return round(BOTTOM - (BOTTOM - TOP) * (value - low) / (high - low), 1)

    def spot(point: Point) -> Spot:
        place = x(point.rate), y(100 * point.effect)
        if point.interval is None or not all(defined(end) for end in point.interval):
            return Spot(*place, None, None)
        return Spot(*place, y(100 * point.interval[0]), y(100 * point.interval[1]))

    lines = tuple(Line(c.name, DASHES[i // 6 % 3], tuple(map(spot, c.points))) for i, c in enumerate(curves))
    every = -(-len(rates) // 12)
    digits = max(0, -math.floor(math.log10(y_values[1] - y_values[0]) + 1e-9))
    return Plot(
        lines=lines,
        x_ticks=tuple(Tick(x(rate), f"{rate:g}") for rate in rates[::every]),
        y_ticks=tuple(Tick(y(value), number(value, digits)) for value in y_values if value >= low),
        zero=y(0.0),
    )
