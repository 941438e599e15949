"""What a series comes to, by hand-worked examples."""

from __future__ import annotations

import numpy as np
import pytest

from app.comparison import measure
from app.reporting.history.report import Point
from app.reporting.history.trend import series


def of(key, values, halves=None, data=None):
    points = []
    for i, value in enumerate(values):
        half = None if halves is None or value is None else halves[i]
        low, high = (None, None) if half is None else (value - half, value + half)
        points.append(Point(f"r{i}", f"2026-05-{i + 1:02}T00:00:00+00:00", value, low, high, ""))
    return series(measure(key), points, data or ["d"] * len(points))


def test_ends_and_extremes_skip_gaps():
    found = of("accuracy", [None, 0.9, None, 0.95, 0.85, 0.95, 0.91, None])
    assert (found.first.index, found.last.index, found.n) == (1, 6, 5)
    assert (found.best.index, found.best.run_id, found.best.value) == (5, "r5", 0.95)
    assert (found.worst.index, found.worst.value) == (4, 0.85)
    assert found.difference == pytest.approx(0.01)


def test_lower_may_be_better_and_neither_may_be():
    found = of("ece", [0.05, 0.01, 0.03])
    assert (found.best.index, found.worst.index) == (1, 0)
    found = of("mutants", [10, 12, 11])
    assert (found.best, found.worst, found.trend) == (None, None, "up")


@pytest.mark.parametrize(
    ("key", "values", "kind", "runs"),
    [
        ("accuracy", [0.9, 0.8, 0.81, 0.82, 0.83], "better", 3),
        ("accuracy", [0.9, 0.8, 0.7], "worse", 2),
        ("ece", [0.1, 0.2, 0.15], "better", 1),
        ("accuracy", [0.9, None, 0.9, 0.9, None], "equal", 2),
        ("mutants", [5, 6, 7], "up", 2),
    ],
)
def test_a_streak_is_how_the_series_ends(key, values, kind, runs):
    streak = of(key, values).streak
    assert (streak.kind, streak.runs) == (kind, runs)


def test_one_number_has_no_trend():
    found = of("accuracy", [None, 0.9])
    assert (found.trend, found.streak, found.n) == ("unknown", None, 1)


def test_two_intervals_tell_noise_from_change():
    """Of 95 % and 0.05 wide together: at 99 % they reach 0.05 * 2.576 / 1.960 = 0.0657."""
    apart, close = of("accuracy", [0.80, 0.867], [0.03, 0.04]), of("accuracy", [0.80, 0.864], [0.03, 0.04])
    assert (apart.trend, close.trend) == ("better", "unchanged")
    assert apart.judged_by == close.judged_by == "intervals"


def test_scores_have_a_fixed_limit_and_counts_none():
    assert of("autopsy_score", [90.0, 91.0]).trend == "better"
    assert of("autopsy_score", [90.0, 90.9]).trend == "unchanged"
    assert of("survived", [3, 4]).trend == "worse"
    assert of("survived", [3, 3]).trend == "unchanged"


def test_numbers_without_an_interval_on_other_data_cannot_be_told_from_chance():
    for key, values in (("autopsy_score", [93.0, 90.7]), ("survived", [3, 4])):
        assert of(key, values, data="ab").trend == "unknown"
        assert of(key, values, data="aa").trend == "worse"


def test_shares_without_an_interval_cannot_be_told_from_noise():
    found = of("ece", [0.02, 0.03])
    assert (found.trend, found.judged_by) == ("unknown", None)
    assert of("ece", [0.02, 0.02]).trend == "unchanged"


def test_noise_from_run_to_run_decides_where_it_is_known():
    rng = np.random.default_rng(0)
    values = (0.9 + 0.01 * rng.normal(size=30)).tolist()
    assert of("accuracy", values, [0.0001] * 30).trend == "unchanged"
    assert of("accuracy", [*values, 0.7]).trend == "worse"
    assert of("accuracy", [*values, 0.7]).judged_by == "noise"


def test_first_against_last_of_constant_noisy_series_seldom_differs():
    rng = np.random.default_rng(1)
    moved = sum(of("accuracy", rng.normal(0.9, 0.01, 20).tolist()).trend != "unchanged" for _ in range(200))
    assert moved <= 0.05 * 200


def test_levels_apart_are_a_trend_whatever_the_ends_are():
    rng = np.random.default_rng(2)
    values = np.concatenate([rng.normal(0.9, 0.01, 20), rng.normal(0.94, 0.01, 20)])
    values[0], values[-1] = 0.92, 0.92
    found = of("accuracy", values.tolist())
    assert [(each.index, each.kind) for each in found.change_points] == [(20, "better")]
    assert (found.difference, found.trend) == (0, "better")
    assert found.change_points[0].run_id == "r20"
    assert found.change_points[0].before == pytest.approx(0.9, abs=0.01)
