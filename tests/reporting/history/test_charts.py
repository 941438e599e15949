"""What is marked in a picture of a series."""

from __future__ import annotations

import pytest

from app.comparison import measure
from app.reporting.history import charts
from app.reporting.history.report import Point, RunRow
from app.reporting.history.trend import series


def drawn(key, values):
    times = [f"2026-05-{day + 1:02}T00:00:00+00:00" for day in range(len(values))]
    points = [Point(f"r{i}", times[i], value, None, None, "") for i, value in enumerate(values)]
    rows = [RunRow(f"r{i}", time, "report", "", 1, "", "m", "d", None, ()) for i, time in enumerate(times)]
    return charts.chart(series(measure(key), points, ["d"] * len(values)), rows)


@pytest.mark.parametrize(
    ("key", "values", "looks"),
    [
        ("accuracy", [0.8, 0.85, 0.9], ["worst", "plain", "best", "last"]),  # the newest is the best
        ("ece", [0.1, 0.05, 0.2], ["plain", "best", "worst", "last"]),
        ("accuracy", [0.9, 0.8, 0.85], ["best", "worst", "last"]),
        ("accuracy", [0.9, 0.9], ["plain", "last"]),  # nothing is best where all are equal
        ("mutants", [1, 2], ["plain", "last"]),  # nor where neither direction is better
    ],
)
def test_best_and_newest_are_both_marked(key, values, looks):
    dots = drawn(key, values).dots
    assert [each.look for each in dots] == looks
    newest = [each for each in dots if each.x == dots[-1].x]
    assert dots[-1].look == "last"  # drawn over the ring, and smaller
    assert all(charts.RADII[each.look] > charts.RADII["last"] for each in newest[:-1])
    assert all(each.label == dots[-1].label for each in newest)
    if len(newest) == 2:
        assert f"the {newest[0].look}, the newest" in dots[-1].label
