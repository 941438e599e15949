"""Charts as SVG inside a page: colours come from the page's style, so that dark mode and print need nothing more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from markupsafe import Markup, escape

from app.report.charts import Bars, Forest, Heat, Histogram, Lines, Panels, Reliability, Scatter, Spark, Spec
from app.report.svg.bins import histogram, reliability
from app.report.svg.element import tag
from app.report.svg.grid import NUMBERED, heat, heat_squares
from app.report.svg.lines import legend, lines, spark
from app.report.svg.plane import scatter
from app.report.svg.rows import bars, forest

_DRAWN: dict[type, Callable[[Any], Markup]] = {
    Lines: lines,
    Bars: bars,
    Forest: forest,
    Scatter: scatter,
    Reliability: reliability,
    Histogram: histogram,
    Spark: spark,
}


def draw(spec: Spec) -> Markup:
    """Any chart; a square grid of many rows is drawn as squares, so that it fits."""
    if isinstance(spec, Heat):
        return heat_squares(spec) if spec.rows == spec.columns and len(spec.rows) > NUMBERED else heat(spec)
    if isinstance(spec, Panels):
        return _panels(spec)
    return _DRAWN[type(spec)](spec)


def _panels(spec: Panels) -> Markup:
    first = spec.charts[0]
    drawn = [tag("div" if isinstance(first, Heat) else "figure", draw(each)) for each in spec.charts]
    below = Markup("") if isinstance(first, Heat) else legend(first.lines)
    if spec.note:
        below += tag("p", escape(spec.note), class_="small soft")
    return tag("div", *drawn, class_="grids" if isinstance(first, Heat) else "two") + below
