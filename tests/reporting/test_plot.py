from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.reporting.curves import Curve, Point
from app.reporting.plot import BOTTOM, TOP, plot, steps


@settings(deadline=None)
@given(st.floats(-100, 0), st.floats(0.001, 100))
def test_steps_are_round_and_reach_both_ends(low: float, high: float) -> None:
    found = steps(low, high)
    step = found[1] - found[0]
    assert found[0] <= low + 1e-6 * step
    assert found[-1] >= high - 1e-6 * step
    assert 2 <= len(found) <= 8
    assert float(f"{step:.6g}".replace("0", "").replace(".", "").split("e")[0] or 0) in {1, 2, 5}


def test_a_plot_by_hand() -> None:
    drawn = plot([Curve("a", (Point(0.1, 0.0, None), Point(0.5, 0.4, (0.3, 0.5))))])
    assert drawn is not None
    first, last = drawn.lines[0].points
    assert [tick.text for tick in drawn.y_ticks] == ["0", "10", "20", "30", "40", "50"]
    assert [tick.text for tick in drawn.x_ticks] == ["0.1", "0.5"]
    assert (first.y, first.low, first.high) == (BOTTOM, None, None)
    assert last.y == pytest.approx(BOTTOM - 0.8 * (BOTTOM - TOP), abs=0.06)
    assert last.high == TOP
    assert drawn.zero == BOTTOM


def test_effects_below_zero_stay_on_the_canvas() -> None:
    drawn = plot([Curve("a", (Point(0.1, -0.02, (-0.05, 0.01)), Point(0.2, -0.01, None)))])
    assert drawn is not None
    assert TOP <= drawn.zero < BOTTOM
    assert all(TOP <= spot.y <= BOTTOM for spot in drawn.lines[0].points)


def test_many_rates_and_curves() -> None:
    rates = [i / 100 for i in range(1, 100)]
    drawn = plot([Curve(f"c{i}", tuple(Point(r, r * i / 10, None) for r in rates)) for i in range(9)])
    assert drawn is not None
    assert len(drawn.x_ticks) <= 12
    assert len({(i % 6, line.dash) for i, line in enumerate(drawn.lines)}) == 9


def test_nothing_gives_no_plot() -> None:
    assert plot([]) is None
