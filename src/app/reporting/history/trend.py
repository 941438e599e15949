"""What a series of numbers comes to: its ends, its extremes, its levels, how it ends, and last against first."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from app.comparison import Measure
from app.reporting.history.report import Change, Extreme, JudgedBy, Point, Series, Step, Streak, Trend
from app.stats.change_points import Changes, changes

Z = 2.575829
"""How far noise goes: 99 %, since many series stand side by side."""
Z_OF_INTERVALS = 1.959964
"""How far the intervals of a report go: 95 %."""
FIXED = {"score": 1.0}
"""Differences that count where nothing tells the noise, by unit: an autopsy score counts from one point on."""
EQUAL = 1e-9
"""Relative difference of numbers that are the same."""


def series(measure: Measure, points: Sequence[Point], data: Sequence[str]) -> Series:
    """One measure over time.

    Args:
        measure: What the numbers are.
        points: one a run, oldest first.
        data: digest of the data of each run.
    """
    places = [i for i, each in enumerate(points) if each.value is not None]
    values = np.array([math.nan if each.value is None else each.value for each in points])
    levels = changes(values)
    first, last = (_extreme(points, places[i]) if places else None for i in (0, -1))
    best, worst = _ends(measure, points, places)
    trend, judged_by = _trend(measure, points, data, places, levels)
    return Series(
        key=measure.key,
        title=measure.title,
        unit=measure.unit,
        better=measure.better,
        headline=measure.headline,
        points=tuple(points),
        n=len(places),
        noise=None if math.isnan(levels.noise) else levels.noise,
        change_points=_change_points(measure, points, levels),
        first=first,
        last=last,
        best=best,
        worst=worst,
        difference=None if first is None or last is None else last.value - first.value,
        trend=trend,
        judged_by=judged_by,
        streak=_streak(measure, [value for value in values.tolist() if not math.isnan(value)]),
    )


def direction(measure: Measure, difference: float) -> Trend:
    """What a difference means for a measure."""
    if difference == 0:
        return "unchanged"
    if measure.better is None:
        return "up" if difference > 0 else "down"
    return "better" if (difference > 0) == (measure.better == "higher") else "worse"


def _extreme(points: Sequence[Point], index: int) -> Extreme:
    point = points[index]
    assert point.value is not None  # noqa: S101 - narrows the type
    return Extreme(index, point.run_id, point.time, point.value)


def _ends(
    measure: Measure, points: Sequence[Point], places: Sequence[int]
) -> tuple[Extreme | None, Extreme | None]:
    """The best and the worst, of equal ones the newest."""
    if measure.better is None or not places:
        return None, None
    sign = 1 if measure.better == "higher" else -1
    newest = [_extreme(points, index) for index in reversed(places)]
    return max(newest, key=lambda each: sign * each.value), min(newest, key=lambda each: sign * each.value)


def _change_points(measure: Measure, points: Sequence[Point], levels: Changes) -> tuple[Change, ...]:
    return tuple(
        Change(
            each.index,
            points[each.index].run_id,
            points[each.index].time,
            each.before,
            each.after,
            direction(measure, each.difference),
        )
        for each in levels.points
    )


def _trend(
    measure: Measure, points: Sequence[Point], data: Sequence[str], places: Sequence[int], levels: Changes
) -> tuple[Trend, JudgedBy]:
    """Last against first, and what told it from noise."""
    if len(places) < 2:
        return "unknown", None
    ends = [points[places[0]], points[places[-1]]]
    values = [each.value or 0.0 for each in ends]
    difference = values[1] - values[0]
    halves = [(each.high - each.low) / 2 for each in ends if each.low is not None and each.high is not None]
    judged_by: JudgedBy = None
    limit = math.inf
    if not math.isnan(levels.noise):
        limit, judged_by = Z * math.sqrt(2) * levels.noise, "noise"
    elif len(halves) == 2:
        limit, judged_by = Z / Z_OF_INTERVALS * math.hypot(*halves), "intervals"
    elif data[places[0]] != data[places[-1]]:
        pass  # of other test cases, and nothing says how much chance does
    elif measure.unit in FIXED:
        limit, judged_by = FIXED[measure.unit] * (1 - EQUAL), "fixed"
    elif measure.unit == "count":
        limit, judged_by = 0.0, "difference"
    if judged_by is None and difference:
        return "unknown", None
    if abs(difference) <= max(limit, EQUAL * max(map(abs, values))):
        return direction(measure, _between_levels(places, levels)), judged_by
    return direction(measure, difference), judged_by


def _between_levels(places: Sequence[int], levels: Changes) -> float:
    """How far the last level lies from the first, 0 if noise explains it."""
    if len(levels.levels) < 2:
        return 0.0
    first, last = levels.levels[0], levels.levels[-1]
    counts = [sum(each.start <= place < each.stop for place in places) for each in (first, last)]
    difference = last.mean - first.mean
    limit = Z * levels.noise * math.hypot(*(count**-0.5 for count in counts))
    return difference if abs(difference) > limit else 0.0


def _streak(measure: Measure, numbers: Sequence[float]) -> Streak | None:
    """How many of the last numbers were, one after the other, better than, worse than or equal to the one before."""
    if len(numbers) < 2:
        return None
    steps: list[Step] = []
    for before, after in zip(numbers[-2::-1], numbers[:0:-1], strict=True):  # newest step first
        if math.isclose(before, after, rel_tol=EQUAL, abs_tol=1e-12):
            steps.append("equal")
        elif measure.better is None:
            steps.append("up" if after > before else "down")
        else:
            steps.append("better" if (after > before) == (measure.better == "higher") else "worse")
    return Streak(steps[0], next((i for i, each in enumerate(steps) if each != steps[0]), len(steps)))
