"""Lines with their axes, their legend, and lines small enough for a table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby

from markupsafe import Markup, escape

from app.report.charts import DASHES, Line, Lines, Mark, Point, Spark
from app.report.scales import Scale, scale
from app.report.svg.element import axis_name, canvas, grid_y, label, spot, stroke, tag, ticks_x, title
from app.report.words import short

MOST_DOTS = 60
"""Numbers of a line that get a dot each."""
MOST_COLUMNS = 450
"""Of longer lines only the lowest and highest number of each column are drawn."""


def lines(spec: Lines) -> Markup:
    """Lines with whiskers or bands, and what stands out in them; its legend below."""
    wide, high = (500, 268) if spec.small else (760, 300)
    left, right, bottom = 46.0, wide - 10.0, high - (62.0 if spec.rugs else 50.0)
    top = 32.0 if spec.y.name or spec.heading or spec.rules else 14.0
    points = [point for line in spec.lines for point in line.points if math.isfinite(point.y)]
    heights = [p.y for p in points] + [end for p in points for end in p.interval or () if math.isfinite(end)]
    x = scale(spec.x, [p.x for p in points], left + 14, right - 14, 9)
    y = scale(spec.y, [*heights, *(level[2] for level in spec.levels)], bottom, top, 4)
    drawn = grid_y(y, left, right) + ticks_x(x, high - 26.0, inside=bool(spec.rugs))
    if spec.heading:
        drawn.append(
            label(0, 13, f"{spec.title}, %" if spec.y.unit == "share" else spec.title, class_="name")
        )
    elif spec.y.name:
        drawn.append(label(0, 13, axis_name(spec.y)))
    if spec.x.name:
        drawn.append(label(right, high - 6.0, axis_name(spec.x), "end"))
    if spec.diagonal:
        drawn.append(stroke("ideal", x(x.low), y(x.low), x(x.high), y(x.high)))
    drawn += [stroke("crossing", x(rule.x), top, x(rule.x), bottom) for rule in spec.rules if not rule.head]
    for line in spec.lines:
        drawn.append(_curve(spec, line, x, y))
    drawn += [stroke("level", x(first), y(at), x(last), y(at)) for first, last, at in spec.levels]
    for rule in spec.rules:
        if rule.head:
            at = x(rule.x)
            head = tag("path", class_=f"head k-{rule.colour}", d=f"M{at - 5:g} {top - 13:g}h10l-5 8z")
            drawn += [stroke(f"change k-{rule.colour}", at, top - 6, at, bottom), head]
    drawn += [_mark(mark, x, y) for mark in spec.marks]
    low = min(max(0.0, y.low), y.high)
    drawn.append(stroke("axis", left, y(low), right, y(low)))
    for place, rug in enumerate(each for each in spec.rugs if each.places):
        at = bottom + 10 + 12 * place
        ticks = "".join(f"M{x(each):g} {at - 4:g}v8" for each in rug.places)
        drawn += [
            label(left - 7, at + 4, rug.name, "end", class_="rug-name"),
            tag("path", title(f"{rug.name}: {len(rug.places)}"), class_=f"rug k-{rug.colour}", d=ticks),
        ]
    svg = canvas(wide, high, spec.title, drawn, "plot small" if spec.small else "plot")
    return svg + (legend(spec.lines) if spec.legend and len(spec.lines) > 1 else Markup(""))


def legend(drawn: Sequence[Line]) -> Markup:
    """The names of lines, each with a piece of it."""
    entries = [
        tag(
            "li",
            tag(
                "svg",
                stroke(
                    f"k-{line.colour}",
                    0,
                    5,
                    26,
                    5,
                    stroke_width=3 if line.bold else 2,
                    stroke_dasharray=DASHES[line.dash % len(DASHES)] or None,
                ),
                aria_hidden="true",
            ),
            escape(short(line.name, 70)),
        )
        for line in drawn
    ]
    return tag("ul", *entries, class_="legend")


def _curve(spec: Lines, line: Line, x: Scale, y: Scale) -> Markup:
    pieces = [
        list(group)
        for there, group in groupby(line.points, key=lambda point: math.isfinite(point.y))
        if there
    ]
    drawn: list[Markup] = []
    for piece in pieces:
        if spec.spread == "band":
            drawn += [_band(part, x, y) for part in _parts(piece)]
        elif spec.spread == "whisker":
            for point in piece:
                if point.interval is not None:
                    low, high = point.interval
                    drawn.append(stroke("ends", x(point.x), y(low), x(point.x), y(high)))
        path = " ".join(f"{x(p.x):g},{y(p.y):g}" for p in _thinned(piece))
        drawn.append(
            tag(
                "polyline",
                class_=_weight(line),
                points=path,
                stroke_dasharray=DASHES[line.dash % len(DASHES)] or None,
            )
        )
        if (spec.dots and len(line.points) <= MOST_DOTS) or len(piece) == 1:
            drawn += [spot(x(p.x), y(p.y), 2.8, p.label, stroke="none") for p in piece]
    return tag("g", *drawn, class_=f"k-{line.colour}")


def _weight(line: Line) -> str:
    if line.bold:
        return "curve bold"
    return "curve thin" if len(line.points) > MOST_DOTS else "curve"


def _parts(piece: Sequence[Point]) -> Iterable[list[Point]]:
    for there, group in groupby(piece, key=lambda point: point.interval is not None):
        if there:
            yield list(group)


def _band(part: Sequence[Point], x: Scale, y: Scale) -> Markup:
    found = [(x(p.x), *(p.interval or (p.y, p.y))) for p in part]
    if len(found) == 1:  # a whisker as wide as a dot
        at, low, high = found[0]
        found = [(at - 3, low, high), (at + 3, low, high)]
    outline = [(at, y(high)) for at, _, high in found] + [(at, y(low)) for at, low, _ in reversed(found)]
    return tag("polygon", class_="band", points=" ".join(f"{a:g},{b:g}" for a, b in outline))


def _thinned(piece: Sequence[Point]) -> list[Point]:
    """The lowest and highest number of each column, where there are more than two a column."""
    if len(piece) <= 2 * MOST_COLUMNS:
        return list(piece)
    kept: list[Point] = []
    width = len(piece) / MOST_COLUMNS
    for _, group in groupby(enumerate(piece), key=lambda each: int(each[0] / width)):
        column = [point for _, point in group]
        ends = {id(each): each for each in (min(column, key=_height), max(column, key=_height))}
        kept += sorted(ends.values(), key=lambda point: point.x)
    return [*kept, piece[-1]]


def _height(point: Point) -> float:
    return point.y


def _mark(mark: Mark, x: Scale, y: Scale) -> Markup:
    radius = {"dot": 3.2, "ring": 5.6, "small": 2.6}[mark.look]
    return spot(x(mark.x), y(mark.y), radius, mark.label, class_=f"mark-{mark.look} k-{mark.colour}")


def spark(spec: Spark) -> Markup:
    """A small line; its newest number is a dot."""
    wide, high = 180, 26
    numbers = [each for each in spec.values if math.isfinite(each)]
    low, top = min(numbers, default=0.0), max(numbers, default=0.0)
    gap = (wide - 6) / max(len(spec.values) - 1, 1)

    def at(place: int) -> float:
        return round(3 + gap * place, 1) if len(spec.values) > 1 else wide / 2

    def up(value: float) -> float:
        return high / 2 if top == low else round(high - 4 - (high - 8) * (value - low) / (top - low), 1)

    drawn = [stroke("change k-mid", at(i), 1, at(i), high - 1) for i in spec.rules]
    points = [Point(float(i), value) for i, value in enumerate(spec.values)]
    for there, group in groupby(points, key=lambda point: math.isfinite(point.y)):
        if there:
            piece = _thinned(list(group))
            drawn.append(
                tag("polyline", points=" ".join(f"{at(int(p.x)):g},{up(p.y):g}" for p in piece))
                if len(piece) > 1
                else spot(at(int(piece[0].x)), up(piece[0].y), 1.6)
            )
    known = [i for i, value in enumerate(spec.values) if math.isfinite(value)]
    if known:
        drawn.append(spot(at(known[-1]), up(spec.values[known[-1]]), 2.6, class_="end"))
    return canvas(wide, high, spec.title, drawn, "spark")
