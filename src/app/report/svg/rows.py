"""A name a row: bars, and values with intervals."""

from __future__ import annotations

from markupsafe import Markup, escape

from app.report.charts import BarRow, Bars, Forest, ForestMark
from app.report.scales import Scale, bar_axis, scale
from app.report.svg.element import axis_name, canvas, label, spot, stroke, tag, title
from app.report.words import breakable, defined, short


def bars(spec: Bars) -> Markup:
    """Bars beside their names, in the page's own boxes."""
    high = bar_axis(spec).high or 1.0
    rows = []
    for row in spec.rows:
        rows += [
            tag("span", breakable(short(row.name, 90)), class_="bar-name"),
            track(row, high),
            tag("span", escape(row.shown if row.value is not None or row.shown else spec.none), class_="num"),
        ]
    return tag("div", *rows, class_="bars thin" if spec.thin else "bars", role="img", aria_label=spec.title)


def track(row: BarRow, high: float = 1.0, rule: float | None = None) -> Markup:
    """One bar with its whisker and its diamond."""

    def at(value: float) -> str:
        return f"{100 * min(max(value / high, 0.0), 1.0):.1f}%"

    drawn = []
    if row.value is not None and defined(row.value):
        drawn.append(
            tag("i", Markup(" "), class_=f"fill{' weak' if row.weak else ''}", style=f"width:{at(row.value)}")
        )
    if row.interval is not None:
        low, top = (min(max(each / high, 0.0), 1.0) for each in row.interval)
        style = f"left:{100 * low:.1f}%;width:{100 * (top - low):.1f}%"
        drawn.append(tag("i", Markup(" "), class_="whisker", style=style))
    if rule is not None:
        drawn.append(tag("i", Markup(" "), class_="whisker", style=f"left:{at(rule)};width:0"))
    if row.mark is not None and defined(row.mark):
        drawn.append(tag("i", Markup(" "), class_="mark", style=f"left:{at(row.mark)}"))
    return tag("div", *(drawn or [Markup(" ")]), class_="track", role="img", aria_label=row.name)


def forest(spec: Forest) -> Markup:
    """Values with intervals, a row each: its name and its numbers above its marks."""
    wide, left, right = 480, 12.0, 456.0
    top = 26.0 if spec.heading else 8.0
    values = [
        value for row in spec.rows for mark in row.marks for value in (mark.value, *(mark.interval or ()))
    ]
    x = scale(spec.axis, values + ([spec.rule] if spec.rule is not None else []), left, right)
    drawn: list[Markup] = []
    at = top
    rows: list[Markup] = []
    for row in spec.rows:
        rows.append(label(left, at + 13, short(row.name, 40), class_="name"))
        rows.append(label(right, at + 13, row.shown, "end"))
        at += 24
        for mark in row.marks:
            rows.append(_forest_mark(mark, x, at))
            if spec.rule is not None:
                rows.append(stroke("truth", x(spec.rule), at - 8, x(spec.rule), at + 8))
            at += 14
        at += 4
    for value, words in x.ticks:
        drawn += [stroke("grid", x(value), top - 2, x(value), at)]
        anchor = "start" if x(value) < 30 else "end" if x(value) > wide - 30 else "middle"
        drawn += [label(x(value), at + 16, words, anchor)]
    if spec.heading:
        drawn.insert(0, label(4, 12, short(spec.title, 60), class_="name"))
    name = label(right, at + 32, axis_name(spec.axis), "end") if spec.axis.name else Markup("")
    height = at + (38 if spec.axis.name else 22)
    return canvas(wide, height, spec.title, [*drawn, *rows, name], "plot small forest-plot")


def _forest_mark(mark: ForestMark, x: Scale, at: float) -> Markup:
    drawn = [title(mark.label)]
    if mark.interval is not None:
        low, high = (x(each) for each in mark.interval)
        drawn.append(stroke("span", low, at, high, at))
        drawn += [stroke("span", end, at - 4, end, at + 4) for end in (low, high)]
    place = x(mark.value)
    if mark.look == "diamond":
        drawn.append(tag("path", class_="hollow", d=f"M{place:g} {at - 6:g}l6 6l-6 6l-6 -6z"))
    else:
        drawn.append(spot(place, at, 4.6, class_="hollow" if mark.look == "ring" else "solid"))
    return tag("g", *drawn, class_=f"k-{mark.colour}")
