import math

import pytest

from app.reporting.uamt.curves import SCORES, grids, largest, over_rate, panels, tint, value_of
from app.stats.proportions import wilson


def test_every_panel_has_a_curve_for_each_operator_and_block_with_two_rates(whole):
    found = panels(whole.mutants)
    assert [panel.score for panel in found] == list(SCORES)
    names = ["mc_dropout, net", "mc_dropblock, block 1, net", "mc_dropout, other"]
    assert all([curve.name for curve in panel.curves] == names for panel in found)
    misses = found[0].curves[0]
    assert [(p.rate, p.value) for p in misses.points] == [
        (0.1, 0.0),
        (0.3, pytest.approx(1 / 6)),
        (0.5, pytest.approx(5 / 6)),
    ]


def test_charts_of_a_history_have_the_same_points_by_rate_in_per_cent(whole):
    found = over_rate(whole.mutants)
    assert [step for step, _ in found["obj_ms_miss_over_rate/mc_dropout, net"]] == [10, 30, 50]
    assert found["ms_iou_over_rate/mc_dropblock, block 1, net"] == [
        (10, panels(whole.mutants)[2].curves[1].points[0].value)
    ]
    assert len(found) == 4 * 3
    assert over_rate(()) == {}


def test_undefined_scores_are_not_drawn(whole):
    iou = panels(whole.mutants)[2].curves[1]
    assert [point.rate for point in iou.points] == [0.1]  # the blind mutant at 0.3 has no match


def test_images_that_notice_have_wilsons_interval(whole):
    mutant = whole.mutants[2]
    value, interval = value_of(mutant, SCORES[3])
    assert value == 1.0
    assert interval == (wilson(2, 2).low, wilson(2, 2).high)


def test_a_grid_has_a_cell_for_each_rate_and_block(whole):
    ((name, found),) = grids(whole.mutants)
    assert name == "mc_dropblock, net"
    misses, ghosts, iou, images = found
    assert (misses.rates, misses.blocks) == ((0.1, 0.3), (1, 3))
    assert misses.cells[0] == (pytest.approx(1 / 6), pytest.approx(2 / 6))
    assert misses.cells[1] == (1.0, None)
    assert math.isnan(iou.cells[1][0])
    assert (misses.top, ghosts.top, images.top) == (1.0, 1.0, 1.0)


def test_nothing_to_draw_draws_nothing():
    assert panels(()) == ()
    assert grids(()) == ()


def test_tints_run_from_pale_to_the_largest():
    assert [tint(value, 0.2) for value in (0.0, 0.1, 0.2, -0.1, 0.4)] == [5, 8, 10, 5, 10]
    assert largest([None, math.nan, 0.2, 0.1]) == 0.2
    assert largest([None, 0.0]) == 1.0
