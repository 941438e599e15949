"""Scores of mutants over the injected rate: one curve an operator and block, and grids of rate by block."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from app.scoring.detection.results import MutantScores
from app.stats import Interval
from app.stats.proportions import wilson

SCORES = ("obj_ms_miss", "obj_ms_ghost", "ms_iou", "img_kills_mg")
"""Those that are followed; of `img_kills_mg` the share of the images that kill the mutant."""
CHARTED = 4
"""Curves of each that a history keeps: it draws a chart for each."""


@dataclass(frozen=True)
class RatePoint:
    """One mutant on a curve."""

    rate: float
    """Injected rate."""
    value: float
    """Its score."""
    interval: Interval
    """Of the score."""


@dataclass(frozen=True)
class RateCurve:
    """The mutants of one operator and block by rate."""

    name: str
    """Operator, block, and the model where there are several."""
    points: tuple[RatePoint, ...]
    """Those with a score, by rate."""


@dataclass(frozen=True)
class RateGrid:
    """One score of one operator's mutants by rate and block."""

    score: str
    """One of SCORES."""
    rates: tuple[float, ...]
    """Of the rows."""
    blocks: tuple[int, ...]
    """Of the columns."""
    cells: tuple[tuple[float | None, ...], ...]
    """(rates, blocks): NaN where the score is undefined, None where nothing was tried."""


def curves(mutants: Sequence[MutantScores]) -> dict[str, tuple[RateCurve, ...]]:
    """By score, the curves with at least two rates; nothing if there is no such curve.

    Every score has the same curves in the same order, so that one legend serves all; a curve lacks the mutants
    whose score is undefined.
    """
    several = len({each.model for each in mutants}) > 1
    groups: dict[str, list[MutantScores]] = {}
    for each in mutants:
        if not math.isnan(each.rate):
            block = "" if each.block is None else f", block {each.block}"
            model = f", {each.model}" if several else ""
            groups.setdefault(f"{each.operator}{block}{model}", []).append(each)
    kept = {name: rows for name, rows in groups.items() if len({row.rate for row in rows}) > 1}
    return {
        score: tuple(RateCurve(name, _points(rows, score)) for name, rows in kept.items())
        for score in SCORES
        if kept
    }


def over_rate(mutants: Sequence[MutantScores]) -> dict[str, list[tuple[int, float]]]:
    """The same curves for a history's charts, of the first operators and blocks; steps are rates in per cent."""
    return {
        f"{score}_over_rate/{curve.name}": [(round(100 * point.rate), point.value) for point in curve.points]
        for score, found in curves(mutants).items()
        for curve in found[:CHARTED]
    }


def grids(mutants: Sequence[MutantScores]) -> dict[str, tuple[RateGrid, ...]]:
    """For each operator with blocks, by its name, and its model's where there are several, a grid of each score."""
    several = len({each.model for each in mutants}) > 1
    rows: dict[str, list[MutantScores]] = {}
    for each in mutants:
        if not math.isnan(each.rate) and each.block is not None:
            rows.setdefault(f"{each.operator}, {each.model}" if several else each.operator, []).append(each)
    return {name: tuple(_grid(found, score) for score in SCORES) for name, found in rows.items()}


def score_of(mutant: MutantScores, score: str) -> tuple[float, Interval]:
    """One of SCORES with its interval; of the images that kill the mutant, their share and Wilson's interval."""
    if score == "ms_iou":
        return mutant.ms_iou, mutant.ms_iou_ci
    name, _, kind = score.rpartition("_")
    if name == "obj_ms":
        return mutant.obj_ms[kind], mutant.obj_ms_ci[kind]
    images = mutant.images - mutant.unscorable
    if not images:
        return math.nan, Interval.unknown()
    kills = mutant.img_kills[kind]
    return kills / images, wilson(kills, images)


def _points(rows: Sequence[MutantScores], score: str) -> tuple[RatePoint, ...]:
    points: dict[float, RatePoint] = {}
    for row in rows:
        value, interval = score_of(row, score)
        if not math.isnan(value):
            points.setdefault(row.rate, RatePoint(row.rate, value, interval))
    return tuple(points[rate] for rate in sorted(points))


def _grid(rows: Sequence[MutantScores], score: str) -> RateGrid:
    found: dict[tuple[float, int | None], float] = {}
    for row in rows:
        found.setdefault((row.rate, row.block), score_of(row, score)[0])
    rates = sorted({row.rate for row in rows})
    blocks = sorted({row.block for row in rows if row.block is not None})
    cells = tuple(tuple(found.get((rate, block)) for block in blocks) for rate in rates)
    return RateGrid(score, tuple(rates), tuple(blocks), cells)
