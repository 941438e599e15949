"""Positions of a series on the canvases of a page: a picture of its own, or a line in a table.

Runs stand side by side in the order of their time, one step a run, so that busy days do not hide in a single column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from app.reporting.history.report import Point, RunRow, Series
from app.reporting.history.words import MONTHS, day, shown
from app.reporting.plot import Tick, steps

WIDTH, HEIGHT = 500, 208
LEFT, RIGHT, TOP, BOTTOM = 50.0, 490.0, 16.0, 150.0
RUGS = {"model": 160.0, "data": 172.0}
"""Where runs with another model and other data are ticked, below the axis."""
MOST_DOTS = 60
"""Numbers that get a dot each; of more, only those that stand out."""
MOST_LINES = 12
"""Changes of model or data that get a line through the picture."""
RADII = {"plain": 2.6, "best": 5.6, "worst": 5.6, "last": 3.2}
"""Of dots: the newest number fits into the ring of the best or the worst."""
SPARK_WIDTH, SPARK_HEIGHT = 180, 26
SPARK_COLUMNS = 90
"""Columns of a line in a table; more numbers are drawn as the lowest and highest of each column."""


@dataclass(frozen=True)
class Dot:
    """A number that is marked."""

    x: float
    """Position on the canvas."""
    y: float
    """Position on the canvas."""
    look: str
    """`plain`, `best`, `worst` or `last`; a number that is two of these has two marks, one in the other."""
    label: str
    """What it says."""


@dataclass(frozen=True)
class Bar:
    """A level between two changes, or a tick of a run with another model or other data."""

    x1: float
    """Left end."""
    x2: float
    """Right end."""
    y: float
    """Height."""


@dataclass(frozen=True)
class Chart:
    """A series with its axes."""

    lines: tuple[str, ...]
    """Polylines, broken at gaps."""
    bands: tuple[str, ...]
    """Polygons of the intervals."""
    levels: tuple[Bar, ...]
    """Levels, if there is more than one."""
    dots: tuple[Dot, ...]
    """Marked numbers."""
    changes: tuple[Tick, ...]
    """Where a new level begins."""
    crossings: tuple[float, ...]
    """Where another model or other data begins, if that is rare."""
    rugs: tuple[tuple[str, float, tuple[float, ...]], ...]
    """Name, height and ticks of what changed between runs."""
    x_ticks: tuple[Tick, ...]
    """Dates."""
    y_ticks: tuple[Tick, ...]
    """Numbers."""


@dataclass(frozen=True)
class Spark:
    """A series as a line in a table."""

    lines: tuple[str, ...]
    """Polylines, broken at gaps."""
    singles: tuple[tuple[float, float], ...]
    """Numbers between two gaps."""
    changes: tuple[float, ...]
    """Where a new level begins."""
    last: tuple[float, float] | None
    """Where the newest number is."""


def chart(series: Series, runs: Sequence[RunRow]) -> Chart:
    """A series on a canvas of its own.

    Args:
        series: with a number at least.
        runs: T runs, as many as points.
    """
    low, high, marks = _range(series)
    x = across(len(runs), LEFT + 8, RIGHT - 8)

    def y(value: float) -> float:
        return round(BOTTOM - (BOTTOM - TOP) * (min(max(value, low), high) - low) / (high - low), 1)

    pieces = list(_pieces(series.points))
    return Chart(
        lines=tuple(" ".join(f"{x(i)},{y(v)}" for i, v in piece) for piece in _thinned(pieces, RIGHT - LEFT)),
        bands=tuple(_bands(series.points, x, y)),
        levels=tuple(_levels(series, x, y, len(runs))),
        dots=tuple(_dots(series, x, y)),
        changes=tuple(Tick(x(each.index), each.kind) for each in series.change_points),
        crossings=_crossings(runs, x),
        rugs=tuple(
            (name, height, tuple(x(i) for i, run in enumerate(runs) if name in run.changed))
            for name, height in RUGS.items()
        ),
        x_ticks=dates([run.time for run in runs], x),
        y_ticks=tuple(Tick(y(value), _tick(value, series.unit, marks)) for value in marks),
    )


def spark(series: Series) -> Spark:
    """A series as a line in a table."""
    x = across(len(series.points), 3, SPARK_WIDTH - 3)
    numbers = [each.value for each in series.points if each.value is not None]
    low, high = min(numbers, default=0.0), max(numbers, default=0.0)

    def y(value: float) -> float:
        if high == low:
            return SPARK_HEIGHT / 2
        return round(SPARK_HEIGHT - 4 - (SPARK_HEIGHT - 8) * (value - low) / (high - low), 1)

    pieces = list(_pieces(series.points))
    last = series.last
    return Spark(
        lines=tuple(
            " ".join(f"{x(i)},{y(v)}" for i, v in piece)
            for piece in _thinned([each for each in pieces if len(each) > 1], SPARK_COLUMNS)
        ),
        singles=tuple((x(piece[0][0]), y(piece[0][1])) for piece in pieces if len(piece) == 1),
        changes=tuple(x(each.index) for each in series.change_points),
        last=None if last is None else (x(last.index), y(last.value)),
    )


def across(count: int, left: float, right: float) -> Callable[[int], float]:
    """Where the run of a place stands; a single one in the middle."""
    if count < 2:
        return lambda _: round((left + right) / 2, 1)
    return lambda index: round(left + (right - left) * index / (count - 1), 1)


def dates(times: Sequence[str], x: Callable[[int], float], most: int = 5) -> tuple[Tick, ...]:
    """Labels of a few runs: days, months where the runs span years, or the clock where they are of one day."""
    if not times:
        return ()
    moments = [datetime.fromisoformat(time) for time in times]
    days = (moments[-1] - moments[0]).total_seconds() / 86400
    places = sorted({round(i * (len(times) - 1) / (most - 1)) for i in range(most)})
    found: list[Tick] = []
    for place in places:
        moment = moments[place]
        if days < 1:
            label = f"{moment:%H:%M}"
        elif days < 300:
            label = f"{moment.day} {MONTHS[moment.month - 1]}"
        else:
            label = f"{MONTHS[moment.month - 1]} {moment.year}"
        if not found or found[-1].text != label:
            found.append(Tick(x(place), label))
    return tuple(found)


def _range(series: Series) -> tuple[float, float, list[float]]:
    """Lowest and highest number shown, and the round ones between; very wide intervals are cut."""
    numbers = [each.value for each in series.points if each.value is not None]
    low, high = min(numbers, default=0.0), max(numbers, default=0.0)
    widths = sorted(
        each.high - each.low for each in series.points if each.low is not None and each.high is not None
    )
    reach = 1.5 * max(high - low, widths[len(widths) // 2] if widths else 0.0)
    ends = [end for each in series.points for end in (each.low, each.high) if end is not None]
    low, high = (
        min(low, max(min(ends, default=low), low - reach)),
        max(high, min(max(ends, default=high), high + reach)),
    )
    if high - low < 1e-9 * max(abs(low), abs(high), 1e-6):
        room = {"share": 0.01, "score": 1.0, "count": 1.0}.get(series.unit, 0.01 * max(abs(high), 1e-6))
        low, high = low - room, high + room
    marks = steps(low, high, 4)
    if series.unit == "count":
        marks = [mark for mark in marks if mark == round(mark)] or [round(low), round(high)]
    pad = 0.04 * (high - low)
    low, high = low - pad, high + pad
    return low, high, [mark for mark in marks if low <= mark <= high]


def _tick(value: float, unit: str, marks: Sequence[float]) -> str:
    """A label of the vertical axis: as many decimals as the steps need, per cent without the sign but at the top."""
    factor = 100 if unit == "share" else 1
    step = factor * (marks[1] - marks[0]) if len(marks) > 1 else 1.0
    digits = next((d for d in range(6) if abs(round(step, d) - step) < 1e-9 * max(step, 1)), 6)
    text = f"{factor * value + 0.0:,.{digits}f}".replace("-", "−")
    return f"{text} %" if unit == "share" and value == marks[-1] else text


def _pieces(points: Sequence[Point]) -> list[list[tuple[int, float]]]:
    """The numbers between gaps, with their places."""
    numbered = [(i, each.value) for i, each in enumerate(points)]
    return [
        [(i, value) for i, value in group if value is not None]
        for has, group in groupby(numbered, key=lambda each: each[1] is not None)
        if has
    ]


def _thinned(pieces: Sequence[list[tuple[int, float]]], columns: float) -> list[list[tuple[int, float]]]:
    """The lowest and highest number of each column, where there are more than two a column."""
    total = sum(map(len, pieces))
    if total <= 2 * columns:
        return list(pieces)
    width = total / columns
    thinned = []
    for piece in pieces:
        kept = []
        for _, group in groupby(piece, key=lambda each: int(each[0] / width)):
            column = list(group)
            ends = {min(column, key=lambda each: each[1]), max(column, key=lambda each: each[1])}
            kept += sorted(ends | {piece[-1]} if column[-1] == piece[-1] else ends)
        thinned.append(kept)
    return thinned


def _bands(points: Sequence[Point], x: Callable[[int], float], y: Callable[[float], float]) -> list[str]:
    bands = []
    spans = [(i, each.low, each.high) for i, each in enumerate(points)]
    for has, group in groupby(spans, key=lambda each: each[1] is not None and each[2] is not None):
        if not has:
            continue
        part = [(i, low, high) for i, low, high in group if low is not None and high is not None]
        if len(part) == 1:  # a whisker as wide as a dot
            (i, low, high), half = part[0], 3
            corners = [
                (x(i) - half, y(high)),
                (x(i) + half, y(high)),
                (x(i) + half, y(low)),
                (x(i) - half, y(low)),
            ]
        else:
            corners = [(x(i), y(high)) for i, _, high in part]
            corners += [(x(i), y(low)) for i, low, _ in reversed(part)]
        bands.append(" ".join(f"{a:g},{b:g}" for a, b in corners))
    return bands


def _levels(series: Series, x: Callable[[int], float], y: Callable[[float], float], count: int) -> list[Bar]:
    found = series.change_points
    if not found:
        return []
    starts = [0, *(each.index for each in found)]
    means = [found[0].before, *(each.after for each in found)]
    stops = [*(each.index - 1 for each in found), count - 1]
    return [
        Bar(x(start), x(max(stop, start)), y(mean))
        for start, stop, mean in zip(starts, stops, means, strict=True)
    ]


def _dots(series: Series, x: Callable[[int], float], y: Callable[[float], float]) -> list[Dot]:
    """Every number of a short series, what stands out of a long one, and numbers alone between gaps."""
    if series.n <= MOST_DOTS:
        plain = [i for i, each in enumerate(series.points) if each.value is not None]
    else:
        plain = [piece[0][0] for piece in _pieces(series.points) if len(piece) == 1]
    looks: dict[int, list[str]] = {i: ["plain"] for i in plain}
    moved = series.best is not None and series.worst is not None and series.best.value != series.worst.value
    for place, look in ((series.worst, "worst"), (series.best, "best"), (series.last, "last")):
        if place is not None and (look == "last" or moved):
            before = [each for each in looks.get(place.index, []) if each != "plain"]
            looks[place.index] = [*before, look]  # a ring, and the newest in it
    words = {"best": ", the best", "worst": ", the worst", "last": ", the newest"}
    dots = []
    for i, found in sorted(looks.items()):
        point = series.points[i]
        if point.value is not None:
            label = (
                f"{shown(point.value, series.unit)}, {day(point.time, clock=True)}, run {point.run_id[:8]}"
            )
            label += "".join(words.get(look, "") for look in found)
            dots += [Dot(x(i), y(point.value), look, label) for look in found]
    return dots


def _crossings(runs: Sequence[RunRow], x: Callable[[int], float]) -> tuple[float, ...]:
    places = [i for i, run in enumerate(runs) if {"model", "data"} & set(run.changed)]
    return tuple(map(x, places)) if len(places) <= MOST_LINES else ()
