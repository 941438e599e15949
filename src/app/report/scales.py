"""Where an axis puts its values and its labels: round numbers, each once, around all that is drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.report.charts import Axis, Bars


def steps(low: float, high: float, about: int = 5, least: float = 0.0) -> list[float]:
    """Round numbers from at most `low` to at least `high`: multiples of 1, 2 or 5 times a power of ten.

    Args:
        low: the smallest number.
        high: the largest.
        about: how many are wanted.
        least: no two are nearer to each other.
    """
    raw = max(max(high - low, 1e-9) / about, least)
    power: float = 10.0 ** math.floor(math.log10(raw))
    step = next(f * power for f in (1.0, 2.0, 5.0, 10.0) if f * power >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [i * step for i in range(first, last + 1)]


@dataclass(frozen=True)
class Scale:
    """An axis placed on a canvas."""

    low: float
    """Value at `start`."""
    high: float
    """Value at `stop`."""
    start: float
    """Position of `low`."""
    stop: float
    """Position of `high`."""
    ticks: tuple[tuple[float, str], ...]
    """Values and labels."""

    def __call__(self, value: float) -> float:
        """Where a value stands; outside the axis at its nearer end."""
        share = (min(max(value, self.low), self.high) - self.low) / ((self.high - self.low) or 1.0)
        return round(self.start + (self.stop - self.start) * share, 1)


def scale(axis: Axis, values: Sequence[float], start: float, stop: float, about: int = 5) -> Scale:
    """The axis with round numbers, wide enough for the values.

    Args:
        axis: what is known of it.
        values: what must fit on it.
        start: position of its beginning.
        stop: position of its end.
        about: labels wanted.
    """
    factor = 100.0 if axis.unit in {"share", "points"} else 1.0
    low, high = _reach(axis, [each for each in values if math.isfinite(each)])
    if axis.ticks is not None:
        return Scale(low, high, start, stop, tuple(each for each in axis.ticks if low <= each[0] <= high))
    marks = steps(factor * low, factor * high, about, 1.0 if axis.unit == "count" else 0.0)
    step = marks[1] - marks[0] if len(marks) > 1 else 1.0
    digits = max(0, -math.floor(math.log10(step) + 1e-6))
    low = marks[0] / factor if axis.low is None else low
    high = max(marks[-1] / factor, low + step / factor) if axis.high is None else high
    slack = 1e-6 * step
    inside = [mark for mark in marks if factor * low - slack <= mark <= factor * high + slack]
    labels = tuple((m / factor, f"{m + 0.0:,.{digits}f}".replace("-", "−")) for m in inside)
    return Scale(low, high, start, stop, labels)


def _reach(axis: Axis, values: Sequence[float]) -> tuple[float, float]:
    """Where an axis begins and ends at the latest; around a single number it has room, a share's within 0 to 1."""
    low = axis.low if axis.low is not None else min(values, default=min(0.0, axis.high or 0.0))
    high = axis.high if axis.high is not None else max(values, default=max(1.0, low))
    size = max(abs(low), abs(high))
    if high - low > 1e-9 * max(size, 1.0):
        return low, high
    at = low if axis.high is None or axis.low is not None else high
    room = max(0.1 * size, {"share": 0.01, "points": 0.01, "count": 1.0}.get(axis.unit, 0.0))
    room = room if room > 1e-7 else 1.0
    floor = 0.0 if axis.unit in {"share", "count"} and at >= 0 else -math.inf
    ceiling = 1.0 if axis.unit == "share" and 0 <= at < 1 else math.inf
    if axis.low is not None:
        return at, min(at + room, ceiling)
    if axis.high is not None:
        return at - room, at
    return max(at - room, floor), max(min(at + room, ceiling), at)


def bar_axis(spec: Bars) -> Axis:
    """The axis of bars: from 0 to its end, or to that of the longest bar."""
    drawn = [
        end for row in spec.rows for end in (row.value, row.mark, *(row.interval or ())) if end is not None
    ]
    axis = replace(spec.axis, low=0.0)
    return replace(axis, high=scale(axis, drawn, 0.0, 1.0).high)
