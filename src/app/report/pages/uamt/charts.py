"""What the report of a detector's mutants draws: scores over the injected rate, and by rate and block."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.report.charts import SERIES, Axis, Heat, HeatCell, Line, Lines, Panels, Point
from app.report.pages.uamt import Report
from app.report.words import defined, per_cent, plural, short
from app.scoring.detection import over_rate
from app.scoring.detection.mutation_result import DetectorMutationResult
from app.scoring.detection.over_rate import RateCurve, RateGrid
from app.scoring.detection.results import GroupScores
from app.scoring.detection.significance import KILLS

MOST_CURVES, MOST_OPERATORS = 12, 6
TITLES = {
    "obj_ms_miss": "Obj-MS of misses",
    "obj_ms_ghost": "Obj-MS of ghosts",
    "ms_iou": "MS_iou of matches",
    "img_kills_mg": "Images that kill a mutant",
}
"""What a chart of each score is called."""


def curves(result: DetectorMutationResult, title: str = "") -> Panels | None:
    """Each score over the injected rate with its intervals, one line an operator and block; None without any."""
    found = over_rate.curves(result.mutants)
    if not found:
        return None
    total = len(next(iter(found.values())))
    return Panels(
        title or "Scores over the injected rate",
        tuple(_lines(TITLES[score], lines[:MOST_CURVES]) for score, lines in found.items()),
        note=f"The first {MOST_CURVES} of {plural(total, 'curve')}." if total > MOST_CURVES else "",
    )


def _lines(title: str, found: Sequence[RateCurve]) -> Lines:
    lines = tuple(
        Line(
            curve.name,
            tuple(Point(point.rate, point.value, point.interval.ends) for point in curve.points),
            SERIES[place % len(SERIES)],
            place // len(SERIES),
        )
        for place, curve in enumerate(found)
    )
    points = [point for line in lines for point in line.points]
    values = [value for point in points for value in (point.y, *(point.interval or ()))]
    rates = sorted({point.x for point in points})
    return Lines(
        title,
        lines,
        Axis("rate", ticks=tuple((rate, f"{rate:g}") for rate in rates[:: -(-len(rates) // 9) or 1])),
        Axis(
            unit="share",
            low=None if min(values, default=0.0) < 0 else 0.0,
            high=None if max(values, default=0.0) > 0.05 else 0.05,
        ),
        spread="band",
        small=True,
        legend=False,
        heading=True,
    )


def heat_maps(result: DetectorMutationResult, whose: str = "") -> dict[str, Panels]:
    """For each operator with blocks, by its name: a grid of each score, rates in rows and blocks in columns."""
    found = over_rate.grids(result.mutants)
    return {name: _grids(f"{short(name, 60)}{whose}", rows) for name, rows in found.items()}


def _grids(whose: str, found: Sequence[RateGrid]) -> Panels:
    heats = tuple(
        Heat(
            f"{TITLES[grid.score]} by rate and block",
            tuple(f"{rate:g}" for rate in grid.rates),
            tuple(map(str, grid.blocks)),
            tuple(tuple(_cell(value, _top(grid)) for value in row) for row in grid.cells),
            corner="rate",
            across="block",
            little=True,
            caption=TITLES[grid.score],
        )
        for grid in found
    )
    return Panels(f"Scores by rate and block, %: {whose}", heats, columns=len(heats))


def by_rate(operator: GroupScores, rows: Sequence[GroupScores]) -> Heat:
    """The means of an operator's mutants by rate, over blocks."""
    scores = [value for each in rows for value in each.obj_ms.values()]
    tops = {"img_ms": 1.0, "obj_ms": _largest(scores), "ms_iou": _largest(each.ms_iou for each in rows)}
    words = {"miss": "miss", "ghost": "ghost", "mg": "either"}
    return Heat(
        f"{operator.operator} by rate",
        tuple(f"{each.rate:g}" for each in rows),
        (*(f"{name} {words[kind]}" for name in ("Img-MS", "Obj-MS") for kind in KILLS), "MS_iou"),
        tuple(
            (
                *(
                    _cell(getattr(each, name)[kind], tops[name])
                    for name in ("img_ms", "obj_ms")
                    for kind in KILLS
                ),
                _cell(each.ms_iou, tops["ms_iou"]),
            )
            for each in rows
        ),
        corner="Rate",
        little=True,
    )


def pictures(report: Report) -> dict[str, Panels | list[Panels] | None]:
    """The charts that are files too, by name."""
    whose = short(report.subject.name, 60)
    return {
        "score_over_rate": curves(report.result, f"Scores over the injected rate: {whose}"),
        "heat_map": list(heat_maps(report.result, f", {whose}").values())[:MOST_OPERATORS],
    }


def _top(grid: RateGrid) -> float:
    """What the darkest colour stands for: all images, or the largest score."""
    return 1.0 if grid.score == "img_kills_mg" else _largest(value for row in grid.cells for value in row)


def _largest(values: Iterable[float | None]) -> float:
    """The largest number; 1 if none is above 0."""
    return max((value for value in values if value is not None and defined(value)), default=0.0) or 1.0


def _cell(value: float | None, top: float) -> HeatCell | None:
    """A score with its colour, from pale (0) to the darkest (`top`)."""
    if value is None:
        return None
    step = 5 + min(5, max(0, int(5 * value / top + 0.5))) if defined(value) else None
    return HeatCell(per_cent(value), step)
