"""Bins: reliability diagrams and histograms."""

from __future__ import annotations

import math

from markupsafe import Markup

from app.report.charts import Histogram, Reliability
from app.report.svg.element import canvas, label, stroke, tag, title
from app.report.words import short


def reliability(spec: Reliability) -> Markup:
    """Bars of accuracy over confidence, their gap to the confidence pale, against the diagonal."""
    side, margin = 320.0, 46.0

    def up(share: float) -> float:
        return round(10 + side * (1 - share), 1)

    drawn: list[Markup] = []
    for k in range(0, 11, 2):
        at = up(k / 10)
        drawn += [
            stroke("grid", margin, at, margin + side, at),
            label(margin - 8, at + 4, k * 10, "end"),
            label(margin + side * k / 10, side + 28, k * 10, "middle"),
        ]
    for each in spec.bins:
        x, width = margin + side * each.low + 1, side * (each.high - each.low) - 2
        top, sure = up(each.accuracy), up(each.confidence)
        under = "" if each.confidence > each.accuracy else " under"
        parts = [
            title(each.label),
            tag("rect", class_="acc", x=x, y=top, width=width, height=side + 10 - top),
            tag("rect", class_=f"gap{under}", x=x, y=min(top, sure), width=width, height=abs(top - sure)),
        ]
        if each.interval is not None:
            low, high = (up(end) for end in each.interval)
            parts.append(stroke("ends", x + width / 2, low, x + width / 2, high))
        drawn.append(tag("g", *parts, opacity=None if each.weight >= 0.05 else 0.55))
    drawn += [
        stroke("ideal", margin, side + 10, margin + side, 10),
        label(margin + side, side + 46, spec.x, "end"),
        label(margin + 6, 24, spec.y),
    ]
    return canvas(side + margin + 14, side + 54, spec.title, drawn, "plot small reliability")


def histogram(spec: Histogram) -> Markup:
    """Columns over an axis; logarithmic ones show how many at a glance, not how much more."""
    wide, bottom, top = 340.0, 112.0, 20.0
    count = max(len(spec.columns), 1)
    step = (wide - 8) / count
    heights = [math.log1p(c.height) if spec.logarithmic else c.height for c in spec.columns]
    tallest = max(heights, default=1.0) or 1.0
    drawn = [label(4, 12, short(spec.title, 48), class_="name")]
    for place, (column, height) in enumerate(zip(spec.columns, heights, strict=True)):
        size = round((bottom - top) * height / tallest, 1)
        drawn.append(
            tag(
                "rect",
                title(column.label),
                class_=f"k-{column.colour}",
                stroke="none",
                x=4 + step * place,
                y=bottom - size,
                width=max(step - 2, 1.0),
                height=size,
            )
        )
    drawn.append(stroke("axis", 4, bottom, wide - 4, bottom))
    places = {column.x: 4 + step * place + step / 2 for place, column in enumerate(spec.columns)}
    drawn += [label(places[v], 127, words, "middle") for v, words in spec.x.ticks or () if v in places]
    if spec.x.name:
        drawn.append(label(wide - 4, 144, spec.x.name, "end"))
    return canvas(wide, 150 if spec.x.name else 134, spec.title, drawn, "plot small")
