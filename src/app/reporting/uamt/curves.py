"""Scores over the injected rate: one curve an operator and block, and grids of rate by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.report.words import defined
from app.reporting.uamt.report import MutantScore
from app.scoring.mutant_results import Interval
from app.stats.proportions import wilson


@dataclass(frozen=True)
class Score:
    """One of the scores that are drawn."""

    name: str
    """As the report's fields have it, with dots."""
    title: str
    """What a figure calls it."""


SCORES = (
    Score("obj_ms.miss", "Obj-MS of misses"),
    Score("obj_ms.ghost", "Obj-MS of ghosts"),
    Score("ms_iou", "MS_iou of matches"),
    Score("img_kills.mg", "Img-MS: images that notice"),
)
"""The four panels."""
CHARTED = 4
"""Curves of each that a history keeps: it draws a chart for each."""


@dataclass(frozen=True)
class Point:
    """One mutant on a curve."""

    rate: float
    value: float
    interval: Interval


@dataclass(frozen=True)
class Curve:
    """The mutants of one operator and block by rate."""

    name: str
    """Operator, block, and the model where there are several."""
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Panel:
    """The curves of one score."""

    score: Score
    curves: tuple[Curve, ...]


@dataclass(frozen=True)
class Grid:
    """One score of one operator's mutants by rate (rows) and block (columns)."""

    title: str
    rates: tuple[float, ...]
    blocks: tuple[int, ...]
    cells: tuple[tuple[float | None, ...], ...]
    """(rates, blocks): NaN where the score is undefined, None where nothing was tried."""
    top: float
    """What the darkest colour stands for."""


def panels(mutants: Sequence[MutantScore]) -> tuple[Panel, ...]:
    """The panels of all curves with at least two rates; none if there is no such curve.

    Every panel has the same curves in the same order, so that one legend serves all; a curve lacks the mutants
    whose score is undefined.
    """
    groups = {name: rows for name, rows in _groups(mutants) if len({row.rate for row in rows}) > 1}
    return tuple(
        Panel(score, tuple(Curve(name, _points(rows, score)) for name, rows in groups.items()))
        for score in SCORES
        if groups
    )


def over_rate(mutants: Sequence[MutantScore]) -> dict[str, list[tuple[int, float]]]:
    """The same curves for a history's charts, of the first operators and blocks; steps are rates in per cent."""
    found = {}
    for panel in panels(mutants):
        score = panel.score.name.replace(".", "_")
        for curve in panel.curves[:CHARTED]:
            found[f"{score}_over_rate/{curve.name}"] = [(round(100 * p.rate), p.value) for p in curve.points]
    return found


def grids(mutants: Sequence[MutantScore]) -> tuple[tuple[str, tuple[Grid, ...]], ...]:
    """For each operator with blocks, its name and a grid of each score."""
    several = len({each.model for each in mutants}) > 1
    rows: dict[str, list[MutantScore]] = {}
    for each in mutants:
        if each.rate is not None and each.block is not None:
            rows.setdefault(f"{each.operator}, {each.model}" if several else each.operator, []).append(each)
    return tuple((name, tuple(_grid(found, score) for score in SCORES)) for name, found in rows.items())


def largest(values: Sequence[float | None]) -> float:
    """The largest number; 1 if none is above 0."""
    return max([value for value in values if value is not None and defined(value)], default=0.0) or 1.0


def tint(value: float, top: float) -> int:
    """The step of the colour scale for a score, from 5 (pale: 0) to 10 (`top`)."""
    return 5 + min(5, max(0, int(5 * value / top + 0.5)))


def value_of(mutant: MutantScore, score: Score) -> tuple[float, Interval]:
    """A mutant's score as a fraction, with its interval; of images, the share that notice it (Wilson's)."""
    if score.name == "ms_iou":
        return mutant.ms_iou, mutant.ms_iou_ci
    field, _, kind = score.name.partition(".")
    if field == "obj_ms":
        value: float = getattr(mutant.obj_ms, kind)
        return value, getattr(mutant.obj_ms_ci, kind)
    images = mutant.images - mutant.unscorable
    if not images:
        return float("nan"), None
    kills: int = getattr(mutant.img_kills, kind)
    ends = wilson(kills, images)
    return kills / images, (ends.low, ends.high)


def _groups(mutants: Sequence[MutantScore]) -> Iterator[tuple[str, list[MutantScore]]]:
    several = len({each.model for each in mutants}) > 1
    groups: dict[str, list[MutantScore]] = {}
    for each in mutants:
        if each.rate is None:
            continue
        block = "" if each.block is None else f", block {each.block}"
        model = f", {each.model}" if several else ""
        groups.setdefault(f"{each.operator}{block}{model}", []).append(each)
    yield from groups.items()


def _points(rows: Sequence[MutantScore], score: Score) -> tuple[Point, ...]:
    points: dict[float, Point] = {}
    for row in rows:
        value, interval = value_of(row, score)
        if row.rate is not None and defined(value):
            points.setdefault(row.rate, Point(row.rate, value, interval))
    return tuple(sorted(points.values(), key=lambda point: point.rate))


def _grid(rows: Sequence[MutantScore], score: Score) -> Grid:
    found: dict[tuple[float | None, int | None], float] = {}
    for row in rows:
        found.setdefault((row.rate, row.block), value_of(row, score)[0])
    rates = sorted({row.rate for row in rows if row.rate is not None})
    blocks = sorted({row.block for row in rows if row.block is not None})
    cells = tuple(tuple(found.get((rate, block)) for block in blocks) for rate in rates)
    top = 1.0 if score.name.startswith("img") else largest([v for line in cells for v in line])
    return Grid(score.title, tuple(rates), tuple(blocks), cells, top)
