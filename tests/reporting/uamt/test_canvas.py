import pytest

from app.reporting.uamt.canvas import BOTTOM, LEFT, RIGHT, TOP, drawings
from app.reporting.uamt.curves import SCORES, Curve, Panel, Point


def panel(*points):
    return Panel(SCORES[0], (Curve("x", points),))


def test_values_stand_at_their_height():
    (drawn,) = drawings(
        [panel(Point(0.1, 0.0, None), Point(0.3, 0.1, (0.05, 0.2)), Point(0.5, 0.2, None))], 5
    )
    (line,) = drawn.lines
    assert [y for _, y in line.points] == pytest.approx([BOTTOM, (TOP + BOTTOM) / 2, TOP])
    xs = [x for x, _ in line.points]
    assert xs[1] - xs[0] == pytest.approx(xs[2] - xs[1])
    assert LEFT < xs[0] < xs[2] < RIGHT
    assert [tick.text for tick in drawn.x_ticks] == ["0.1", "0.3", "0.5"]
    assert (drawn.y_ticks[0].text, drawn.y_ticks[-1].text) == ("0", "20")


def test_a_band_goes_along_the_lower_ends_and_back_along_the_upper():
    (drawn,) = drawings([panel(Point(0.1, 0.1, (0.0, 0.2)), Point(0.3, 0.1, (0.1, 0.2)))], 5)
    heights = [float(pair.split(",")[1]) for pair in drawn.lines[0].band.split()]
    assert heights == pytest.approx([BOTTOM, (TOP + BOTTOM) / 2, TOP, TOP])


def test_one_point_has_no_band_and_none_no_line():
    (one,) = drawings([panel(Point(0.1, 0.1, (0.0, 0.2)))], 5)
    (none,) = drawings([panel()], 5)
    assert one.lines[0].band == ""
    assert none.lines[0].points == ()


def test_more_curves_than_fit_are_left_out():
    many = Panel(SCORES[0], tuple(Curve(str(i), (Point(0.1, 0.1, None),)) for i in range(9)))
    assert [line.name for line in drawings([many], 4)[0].lines] == ["0", "1", "2", "3"]


def test_scores_below_zero_stay_on_the_canvas():
    (drawn,) = drawings([panel(Point(0.1, -0.1, None), Point(0.3, 0.1, None))], 5)
    assert [y for _, y in drawn.lines[0].points] == pytest.approx([BOTTOM, TOP])
