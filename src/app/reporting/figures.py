"""Figures of the mutate report, as PNG files for other documents and for the store.

They are drawn on their own canvases: nothing of matplotlib's global state is read or changed.
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.ticker import FixedFormatter
from PIL import Image

from app.reporting.curves import curves
from app.reporting.heatmap import HeatMap, heat_maps, shade
from app.reporting.mutate import MutateReport, OperatorScore
from app.reporting.schema import write_bytes
from app.reporting.text import count, defined, per_cent, percent, plural, short
from app.visible import visible

INK, SOFT, RULE, WASH = "#1b2430", "#556070", "#cfd5dd", "#f1f3f6"
GOOD, BAD = "#2b6cad", "#c2570c"
LINES = (GOOD, BAD, "#187a63", "#8f4f86", "#7a6a12", "#56606d")
"""Colours of curves, told apart with the common kinds of colour blindness."""
STYLES = ("-", "--", ":")
ORANGES = ("#b35806", "#cf7426", "#e39146", "#f1b074", "#f8d2ab")
BLUES = ("#d8e5f2", "#b3cfe9", "#86b2dc", "#5a97cd", "#2b6cad")
SCALE = LinearSegmentedColormap.from_list("score", [*ORANGES, "#f3efe9", *BLUES])
"""From nothing noticed to all noticed, neutral at one half; the colours of the pages."""
MOST_LAYERS, MOST_CURVES = 120, 18


def score_by_operator(report: MutateReport) -> Figure:
    """The mutation score of each operator with its interval, the weakest on top; a diamond is by thresholds."""
    shown = sorted(report.by_operator, key=_weakest_first)
    figure = Figure(figsize=(8.0, 1.5 + 0.34 * max(len(shown), 2)), dpi=144, layout="constrained")
    axes = figure.add_subplot()
    _title(axes, "Mutation score by operator", _subtitle(report))
    for y, operator in enumerate(shown):
        _bar(axes, y, operator)
    axes.set(xlim=(0, 1), ylim=(max(len(shown), 1) - 0.4, -0.6), xlabel="noticed, %")
    axes.set_yticks(range(len(shown)), [short(o.operator, 40) for o in shown])
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100"])
    axes.grid(axis="x", color=RULE, linewidth=0.7)
    _sober(axes)
    return figure


def _bar(axes: Axes, y: int, operator: OperatorScore) -> None:
    score, interval = operator.mutation_score, operator.mutation_score_ci
    if score is None or not defined(score):
        axes.text(0.01, y, "none could be judged", va="center", fontsize=8, color=SOFT)
        return
    axes.barh(y, score, height=0.52, color=BAD if operator.weak else GOOD)
    end = score
    if interval is not None and defined(interval[0]) and defined(interval[1]):
        axes.plot(
            interval, (y, y), color=INK, linewidth=1.2, marker="|", markersize=8, clip_on=False, zorder=3
        )
        end = max(score, interval[1])
    mark = operator.mutation_score_thresholds
    if mark is not None and defined(mark):
        axes.plot(mark, y, "D", color="white", markeredgecolor=INK, markersize=4.5, clip_on=False, zorder=4)
        end = max(end, mark)
    axes.text(end + 0.015, y, percent(score), va="center", fontsize=8, color=INK)


def heat_map(report: MutateReport) -> Figure:
    """The mutation score of each operator in each layer; the pseudo-layer `(input)` has its own rows below."""
    maps = heat_maps(report) or (HeatMap((), (), ()),)
    rows = [min(len(m.layers), MOST_LAYERS) for m in maps]
    wide = max(len(m.operators) for m in maps)
    size = (3.4 + 0.5 * max(wide, 6), 1.1 + 0.25 * sum(rows) + 1.5 * len(maps))
    figure = Figure(figsize=size, dpi=144, layout="constrained")
    grid = figure.add_gridspec(len(maps), 1, height_ratios=[max(n, 1) for n in rows])
    for place, shown in enumerate(maps):
        axes = figure.add_subplot(grid[place, 0])
        if place == 0:
            _title(axes, "Mutation score by layer and operator, %", _subtitle(report))
        _cells(axes, shown, wide)
    return figure


def _cells(axes: Axes, shown: HeatMap, wide: int) -> None:
    layers = shown.layers[:MOST_LAYERS]
    for y, row in enumerate(shown.cells[:MOST_LAYERS]):
        for x, cell in enumerate(row):
            if cell is None:
                continue
            score = cell.mutation_score if defined(cell.mutation_score) else None
            step = None if score is None else shade(score)
            ink = "white" if step in {0, 10} else INK
            axes.add_patch(_rectangle(x, y, WASH if step is None else SCALE(step / 10)))
            axes.text(x, y, per_cent(score), ha="center", va="center", fontsize=7, color=ink)
    axes.set(xlim=(-0.5, max(wide, 6) - 0.5), ylim=(max(len(layers), 1) - 0.5, -0.5))
    axes.set_yticks(range(len(layers)), [short(name, 40) for name in layers], fontsize=7)
    axes.set_xticks(
        range(len(shown.operators)),
        [short(o, 30) for o in shown.operators],
        rotation=40,
        ha="right",
        fontsize=8,
    )
    if len(shown.layers) > len(layers):
        axes.set_xlabel(f"the first {count(len(layers))} of {plural(len(shown.layers), 'layer')}")
    _sober(axes)


def effect_over_rate(report: MutateReport) -> Figure | None:
    """How much accuracy stochastic mutants cost over their rate, one line an operator; None without any."""
    drawn = curves(report.mutants)[:MOST_CURVES]
    if not drawn:
        return None
    figure = Figure(figsize=(8.0, 4.6), dpi=144, layout="constrained")
    axes = figure.add_subplot()
    _title(axes, "Mutation effect over rate", f"{short(report.subject.name, 60)}; whiskers: 95 % intervals")
    for i, curve in enumerate(drawn):
        colour = LINES[i % len(LINES)]
        axes.plot(
            [p.rate for p in curve.points],
            [100 * p.effect for p in curve.points],
            STYLES[i // len(LINES)],
            color=colour,
            marker="o",
            markersize=3.5,
            linewidth=1.6,
            label=short(curve.name, 50),
        )
        for p in curve.points:
            if p.interval is not None and defined(p.interval[0]) and defined(p.interval[1]):
                axes.plot(
                    (p.rate, p.rate), [100 * end for end in p.interval], color=colour, linewidth=1, alpha=0.7
                )
    axes.axhline(0, color=RULE, linewidth=1, zorder=0)
    rates = sorted({p.rate for curve in drawn for p in curve.points})
    if len(rates) <= 12:
        axes.set_xticks(rates, [f"{rate:g}" for rate in rates])
    axes.set(xlabel="rate", ylabel="accuracy drop, points")
    axes.grid(axis="y", color=RULE, linewidth=0.6)
    axes.legend(frameon=False, fontsize=8, labelcolor=INK)
    _sober(axes)
    return figure


def save_png(figure: Figure, path: Path) -> Path:
    """Writes a figure, whole or not at all; equal figures give equal bytes.

    Raises:
        UserError: The file cannot be written.
    """
    return write_bytes(png(figure), path)


def png(figure: Figure) -> bytes:
    """A figure as a PNG file's bytes, without dates or versions in it."""
    canvas, content = FigureCanvasAgg(figure), io.BytesIO()
    _take_literally(figure)
    canvas.draw()  # type: ignore[no-untyped-call]  # `savefig` lays out and draws twice, for the same pixels
    rows = np.asarray(canvas.buffer_rgba())  # type: ignore[no-untyped-call]  # matplotlib's have no types
    Image.fromarray(rows).convert("RGB").save(content, "PNG", dpi=(figure.dpi, figure.dpi))
    return content.getvalue()


def _take_literally(figure: Figure) -> None:
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


def _rectangle(x: int, y: int, face: object) -> Rectangle:
    return Rectangle((x - 0.48, y - 0.46), 0.96, 0.92, facecolor=face, linewidth=0)


def _title(axes: Axes, title: str, subtitle: str) -> None:
    axes.set_title(f"{title}\n", loc="left", fontsize=11, fontweight="bold", color=INK)
    axes.annotate(subtitle, (0, 1), (0, 6), "axes fraction", "offset points", fontsize=8.5, color=SOFT)


def _subtitle(report: MutateReport) -> str:
    summary = report.summary
    return f"{short(report.subject.name, 60)}: {count(summary.killed)} of {plural(summary.judged, 'fault')} noticed"


def _sober(axes: Axes) -> None:
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelcolor=INK, labelsize=8)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set(color=SOFT, fontsize=8.5)


def _weakest_first(operator: OperatorScore) -> tuple[bool, float]:
    score = operator.mutation_score
    return not defined(score), score if score is not None and defined(score) else 0.0
