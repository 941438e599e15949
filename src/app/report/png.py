"""Charts as PNG files, for other documents and for the store; drawn on canvases of their own, without pyplot."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure, SubFigure
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.ticker import FixedFormatter
from PIL import Image

from app.report.charts import (
    Axis,
    BarRow,
    Bars,
    Forest,
    Heat,
    Histogram,
    Line,
    Lines,
    Panels,
    Reliability,
    Scatter,
    Spark,
    Spec,
    defined,
    scale,
)
from app.report.schema import write_bytes
from app.report.words import count, plural, short
from app.visible import visible

INK, SOFT, RULE, WASH = "#1b2430", "#556070", "#cfd5dd", "#f1f3f6"
COLOURS = {
    "0": "#2b6cad",
    "1": "#c2570c",
    "2": "#187a63",
    "3": "#8f4f86",
    "4": "#7a6a12",
    "5": "#56606d",
    "good": "#2b6cad",
    "bad": "#c2570c",
    "mid": "#b9a14a",
    "none": "#9aa4b1",
    "ink": INK,
}
"""Told apart with the common kinds of colour blindness; the colours of the pages in light mode."""
STYLES = ("-", "--", ":")
_ORANGES = ("#b35806", "#cf7426", "#e39146", "#f1b074", "#f8d2ab")
_BLUES = ("#d8e5f2", "#b3cfe9", "#86b2dc", "#5a97cd", "#2b6cad")
SCALE = LinearSegmentedColormap.from_list("score", [*_ORANGES, "#f3efe9", *_BLUES])
"""From bad to good, neutral at one half."""


def write_png(spec: Spec | Sequence[Spec], path: Path) -> Path:
    """Draws a chart, or several below one another, into a file; equal charts give equal bytes.

    Raises:
        UserError: the file cannot be written.
    """
    return write_bytes(png(spec), path)


def png(spec: Spec | Sequence[Spec]) -> bytes:
    """A chart, or several below one another, as a PNG file's bytes, without dates or versions in it."""
    figure = _figure(list(spec) if isinstance(spec, Sequence) else [spec])
    take_literally(figure)
    canvas, content = FigureCanvasAgg(figure), io.BytesIO()
    canvas.draw()  # type: ignore[no-untyped-call]  # `savefig` lays out and draws twice, for the same pixels
    rows = np.asarray(canvas.buffer_rgba())  # type: ignore[no-untyped-call]  # matplotlib's have no types
    Image.fromarray(rows).convert("RGB").save(content, "PNG", dpi=(figure.dpi, figure.dpi))
    return content.getvalue()


def take_literally(figure: Figure) -> None:
    """Names are a stranger's: a dollar begins no formula, and characters that nobody sees are escapes."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            formatter = axis.get_major_formatter()
            if isinstance(formatter, FixedFormatter):
                formatter.seq = [visible(each) for each in formatter.seq]
    for each in figure.findobj(Text):
        if isinstance(each, Text):
            each.set_parse_math(False)
            each.set_text(visible(each.get_text()))


def _figure(specs: list[Spec]) -> Figure:
    sizes = [_size(spec) for spec in specs]
    figure = Figure(
        figsize=(max(w for w, _ in sizes), sum(h for _, h in sizes)), dpi=144, layout="constrained"
    )
    heights = [h for _, h in sizes]
    if any(isinstance(spec, Panels) for spec in specs):
        parts = figure.subfigures(len(specs), 1, height_ratios=heights, squeeze=False)[:, 0]
        for part, spec in zip(parts, specs, strict=True):
            _panels(part, spec if isinstance(spec, Panels) else Panels("", (spec,), 1))  # type: ignore[arg-type]
        return figure
    grid = figure.add_gridspec(len(specs), 1, height_ratios=heights)
    for place, spec in enumerate(specs):
        _draw(figure.add_subplot(grid[place, 0]), spec)
    return figure


def _panels(part: SubFigure, spec: Panels) -> None:
    """Charts under one title, and one legend for lines."""
    if spec.title:
        style: dict[str, Any] = {"fontsize": 11, "fontweight": "bold", "color": INK}
        part.suptitle(short(spec.title, 90), x=0.01, ha="left", **style)
    charts: Sequence[Lines | Heat] = spec.charts
    rows = -(-len(charts) // spec.columns)
    for place, chart in enumerate(charts):
        axes = part.add_subplot(rows, spec.columns, place + 1)
        _draw(axes, chart)
        name = chart.caption if isinstance(chart, Heat) else chart.title
        if isinstance(chart, Lines) and not chart.y.name:  # its unit stands behind its title, as on the page
            name += ", %" if chart.y.unit == "share" else ""
            axes.set_ylabel("")
        axes.set_title(short(name, 60), loc="left", fontsize=9.5, color=INK)
    if isinstance(charts[0], Lines):
        handles, labels = part.axes[0].get_legend_handles_labels()
        style = {"ncols": 3, "frameon": False, "fontsize": 8, "labelcolor": INK, "title": spec.note or None}
        legend = part.legend(handles, labels, loc="outside lower left", **style)
        legend.get_title().set(fontsize=8, color=SOFT)


def _size(spec: Spec) -> tuple[float, float]:  # noqa: PLR0911 - a return a kind of chart
    match spec:
        case Panels(charts=charts, columns=columns):
            rows = -(-len(charts) // columns)
            if all(isinstance(chart, Heat) and chart.little for chart in charts):
                wide = max(len(chart.columns) for chart in charts if isinstance(chart, Heat))
                tall = max(len(chart.rows) for chart in charts if isinstance(chart, Heat))
                return 3.0 + columns * max(0.5 * wide, 1.9), rows * (0.32 * max(tall, 2) + 1.3)
            return 5.0 * columns, 0.6 + 3.4 * rows
        case Bars():
            return 8.0, 1.5 + 0.34 * max(len(spec.rows), 2)
        case Forest():
            marks = sum(max(len(row.marks), 1) for row in spec.rows)
            return 8.0, 1.5 + 0.36 * max(marks, 2)
        case Heat():
            rows = min(len(spec.rows), spec.most)
            return 3.4 + 0.5 * max(len(spec.columns), 6), 1.8 + 0.25 * max(rows, 1)
        case Reliability():
            return 6.0, 5.6
        case Histogram():
            return 6.4, 3.2
        case Scatter():
            return 7.2, 4.8
        case _:
            return 8.0, 4.6


def _draw(axes: Axes, spec: Spec) -> None:
    match spec:
        case Lines():
            _lines(axes, spec)
        case Bars():
            _bars(axes, spec)
        case Forest():
            _forest(axes, spec)
        case Scatter():
            _scatter(axes, spec)
        case Heat():
            _heat(axes, spec)
        case Reliability():
            _reliability(axes, spec)
        case Histogram():
            _histogram(axes, spec)
        case Spark():
            axes.plot(spec.values, color=COLOURS["0"], linewidth=1.4)
    subtitle = getattr(spec, "subtitle", "")
    axes.set_title(
        f"{short(spec.title, 90)}\n" if subtitle else short(spec.title, 90),
        loc="left",
        fontsize=11,
        fontweight="bold",
        color=INK,
    )
    if subtitle:
        axes.annotate(subtitle, (0, 1), (0, 6), "axes fraction", "offset points", fontsize=8.5, color=SOFT)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelcolor=INK, labelsize=8)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set(color=SOFT, fontsize=8.5)


def _place(axes: Axes, axis: Axis, values: Sequence[float], along: str) -> None:
    """Limits, labels and name of one axis, as on the page."""
    found = scale(axis, values, 0.0, 1.0)
    pad = 0.03 * (found.high - found.low) if axis.low is None else 0.0
    limits = found.low - pad, found.high + pad
    unit = {"share": "%", "points": "points"}.get(axis.unit, "")
    name = ", ".join(part for part in (axis.name, unit) if part and not axis.name.endswith(unit or "-"))
    if along == "x":
        axes.set_xlim(limits)
        axes.set_xticks([value for value, _ in found.ticks], [label for _, label in found.ticks])
        axes.set_xlabel(name or axis.name, loc="right")
    else:
        axes.set_ylim(limits)
        axes.set_yticks([value for value, _ in found.ticks], [label for _, label in found.ticks])
        axes.set_ylabel(name or axis.name)


def _lines(axes: Axes, spec: Lines) -> None:
    points = [p for line in spec.lines for p in line.points if math.isfinite(p.y)]
    heights = [p.y for p in points] + [end for p in points for end in p.interval or ()]
    _place(axes, spec.x, [p.x for p in points], "x")
    _place(axes, spec.y, heights, "y")
    axes.grid(axis="y", color=RULE, linewidth=0.6)
    if spec.diagonal:
        axes.axline((0, 0), slope=1, color=SOFT, linewidth=1, linestyle="--")
    for rule in spec.rules:
        axes.axvline(
            rule.x,
            color=COLOURS[rule.colour],
            linewidth=1.2 if rule.head else 0.8,
            linestyle="-" if rule.head else ":",
        )
    for first, last, at in spec.levels:
        axes.plot((first, last), (at, at), color=INK, linewidth=1.2, alpha=0.55)
    for line in spec.lines:
        _line(axes, spec, line)
    for mark in spec.marks:
        face = "white" if mark.look == "ring" else COLOURS[mark.colour]
        axes.plot(
            mark.x,
            mark.y,
            "o",
            markersize=6,
            markerfacecolor=face,
            markeredgecolor=COLOURS[mark.colour],
            zorder=4,
        )
    if spec.legend and len(spec.lines) > 1:
        axes.legend(frameon=False, fontsize=8, labelcolor=INK)


def _line(axes: Axes, spec: Lines, line: Line) -> None:
    colour = COLOURS[line.colour]
    xs, ys = [p.x for p in line.points], [p.y for p in line.points]
    dots = spec.dots and len(xs) <= 60
    axes.plot(
        xs,
        ys,
        STYLES[line.dash % len(STYLES)],
        color=colour,
        marker="o" if dots else None,
        markersize=3.5,
        linewidth=2.4 if line.bold else 1.6,
        label=short(line.name, 50),
    )
    known = [p for p in line.points if p.interval is not None and math.isfinite(p.y)]
    if spec.spread == "band" and len(known) > 1:
        lows, highs = zip(*(p.interval or (p.y, p.y) for p in known), strict=True)
        axes.fill_between([p.x for p in known], lows, highs, color=colour, alpha=0.13, linewidth=0)
    elif spec.spread == "whisker":
        for p in known:
            axes.plot((p.x, p.x), p.interval or (), color=colour, linewidth=1, alpha=0.7)


def _bars(axes: Axes, spec: Bars) -> None:
    for y, row in enumerate(spec.rows):
        _bar(axes, y, row, spec)
    axes.set(ylim=(max(len(spec.rows), 1) - 0.4, -0.6))
    _place(axes, spec.axis, [row.value for row in spec.rows if row.value is not None], "x")
    axes.set_yticks(range(len(spec.rows)), [short(row.name, 40) for row in spec.rows])
    axes.grid(axis="x", color=RULE, linewidth=0.7)


def _bar(axes: Axes, y: int, row: BarRow, spec: Bars) -> None:
    span = (spec.axis.high or 1.0) - (spec.axis.low or 0.0)
    if row.value is None or not defined(row.value):
        axes.text(0.01 * span, y, spec.none, va="center", fontsize=8, color=SOFT)
        return
    axes.barh(y, row.value, height=0.52, color=COLOURS["bad" if row.weak else "good"])
    end = row.value
    if row.interval is not None:
        axes.plot(
            row.interval, (y, y), color=INK, linewidth=1.2, marker="|", markersize=8, clip_on=False, zorder=3
        )
        end = max(end, row.interval[1])
    if row.mark is not None and defined(row.mark):
        axes.plot(
            row.mark, y, "D", color="white", markeredgecolor=INK, markersize=4.5, clip_on=False, zorder=4
        )
        end = max(end, row.mark)
    axes.text(end + 0.015 * span, y, row.shown, va="center", fontsize=8, color=INK)


def _forest(axes: Axes, spec: Forest) -> None:
    at, places = 0, []
    for row in spec.rows:
        places.append(at + (len(row.marks) - 1) / 2)
        for mark in row.marks:
            colour = COLOURS[mark.colour]
            if mark.interval is not None:
                axes.plot(mark.interval, (at, at), color=colour, linewidth=1.4, marker="|", markersize=7)
            face = colour if mark.look == "dot" else "white"
            shape = "D" if mark.look == "diamond" else "o"
            axes.plot(
                mark.value, at, shape, markersize=6, markerfacecolor=face, markeredgecolor=colour, zorder=3
            )
            at += 1
    if spec.rule is not None:
        axes.axvline(spec.rule, color=INK, linewidth=1.2)
    values = [v for row in spec.rows for mark in row.marks for v in (mark.value, *(mark.interval or ()))]
    _place(axes, spec.axis, values + ([spec.rule] if spec.rule is not None else []), "x")
    axes.set_yticks(places, [short(row.name, 44) for row in spec.rows])
    axes.set_ylim(max(at, 1) - 0.4, -0.6)
    axes.grid(axis="x", color=RULE, linewidth=0.6)


def _scatter(axes: Axes, spec: Scatter) -> None:
    for cloud in spec.clouds:
        if cloud.points:
            xs, ys = zip(*cloud.points, strict=True)
            axes.scatter(
                xs,
                ys,
                s=6 if cloud.pale else 11,
                color=COLOURS[cloud.colour],
                alpha=0.6 if cloud.pale else 0.9,
                linewidths=0,
                label=f"{short(cloud.name, 40)} {len(xs)}",
            )
    for path in (spec.path, spec.curve):
        if path:
            axes.plot(*zip(*path, strict=True), color=COLOURS["0"], linewidth=1.6, alpha=0.5)
    for dot in spec.dots:
        axes.plot(
            dot.x,
            dot.y,
            "o",
            markersize=13,
            markerfacecolor=COLOURS["0"] if dot.full else "white",
            markeredgecolor=COLOURS["0" if dot.full else "none"],
        )
        axes.annotate(
            dot.text, (dot.x, dot.y), ha="center", va="center", fontsize=8, color="white" if dot.full else INK
        )
    if spec.x is not None and spec.y is not None:
        points = (
            [(dot.x, dot.y) for dot in spec.dots]
            + [p for cloud in spec.clouds for p in cloud.points]
            + list(spec.curve)
        )
        _place(axes, spec.x, [p[0] for p in points], "x")
        _place(axes, spec.y, [p[1] for p in points], "y")
        axes.grid(color=RULE, linewidth=0.6)
    else:
        axes.set_xticks([])
        axes.set_yticks([])
    if spec.rule is not None:
        axes.axvline(spec.rule, color=SOFT, linewidth=1, linestyle="--")
    if spec.clouds:
        axes.legend(frameon=False, fontsize=8, labelcolor=INK, loc="center left", bbox_to_anchor=(1, 0.5))


def _heat(axes: Axes, spec: Heat) -> None:
    rows = spec.rows[: spec.most]
    wide = len(spec.columns) if spec.little else max(len(spec.columns), 6)
    crowded = len(spec.columns) > 20
    for y, row in enumerate(spec.cells[: spec.most]):
        for x, cell in enumerate(row):
            if cell is None:
                continue
            face = WASH if cell.step is None else SCALE(cell.step / 10)
            axes.add_patch(Rectangle((x - 0.48, y - 0.46), 0.96, 0.92, facecolor=face, linewidth=0))
            if not crowded:
                ink = "white" if cell.step in {0, 10} else INK
                axes.text(x, y, cell.text, ha="center", va="center", fontsize=7, color=ink)
    axes.set(xlim=(-0.5, wide - 0.5), ylim=(max(len(rows), 1) - 0.5, -0.5))
    axes.set_yticks(range(len(rows)), [short(name, 40) for name in rows], fontsize=5 if len(rows) > 40 else 7)
    names = [short(name, 30) for name in spec.columns]
    turned: dict[str, Any] = {} if spec.little else {"rotation": 40, "ha": "right"}
    axes.set_xticks(range(len(names)), names, fontsize=5 if len(names) > 40 else 8, **turned)
    axes.set(xlabel=spec.across, ylabel=spec.corner if spec.little else "")
    if len(spec.rows) > len(rows):
        axes.set_xlabel(f"the first {count(len(rows))} of {plural(len(spec.rows), 'row')}")


def _reliability(axes: Axes, spec: Reliability) -> None:
    for each in spec.bins:
        width, middle = each.high - each.low, (each.low + each.high) / 2
        axes.bar(
            middle,
            each.accuracy,
            width=0.94 * width,
            color=COLOURS["good"],
            alpha=1 if each.weight >= 0.05 else 0.5,
        )
        gap, low = abs(each.confidence - each.accuracy), min(each.confidence, each.accuracy)
        axes.bar(middle, gap, bottom=low, width=0.94 * width, color=COLOURS["bad"], alpha=0.38)
        if each.interval is not None:
            axes.plot((middle, middle), each.interval, color=INK, linewidth=1.2)
    axes.plot((0, 1), (0, 1), "--", color=SOFT, linewidth=1)
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel=spec.x, ylabel=spec.y, aspect="equal")
    ticks = [0, 0.2, 0.4, 0.6, 0.8, 1.0]
    axes.set_xticks(ticks, [f"{100 * t:.0f}" for t in ticks])
    axes.set_yticks(ticks, [f"{100 * t:.0f}" for t in ticks])
    axes.grid(axis="y", color=RULE, linewidth=0.6)


def _histogram(axes: Axes, spec: Histogram) -> None:
    heights = [math.log1p(c.height) if spec.logarithmic else c.height for c in spec.columns]
    axes.bar(range(len(heights)), heights, width=0.86, color=[COLOURS[c.colour] for c in spec.columns])
    places = {column.x: place for place, column in enumerate(spec.columns)}
    ticks = [(places[value], label) for value, label in spec.x.ticks or () if value in places]
    axes.set_xticks([at for at, _ in ticks], [label for _, label in ticks])
    axes.set_yticks([])
    axes.set_xlabel(spec.x.name, loc="right")
