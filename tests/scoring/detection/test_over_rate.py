from __future__ import annotations

import math
from dataclasses import replace

import pytest

from app.scoring.detection.over_rate import SCORES, curves, grids, over_rate, score_of
from app.stats.proportions import wilson
from tests.report.detectors import whole


def test_every_score_has_a_curve_for_each_operator_and_block_with_two_rates() -> None:
    found = curves(whole().result.mutants)
    assert tuple(found) == SCORES
    names = ["mc_dropout, net", "mc_dropblock, block 1, net", "mc_dropout, other"]
    assert all([curve.name for curve in lines] == names for lines in found.values())
    assert [(p.rate, p.value) for p in found["obj_ms_miss"][0].points] == [
        (0.1, 0.0),
        (0.3, pytest.approx(1 / 6)),
        (0.5, pytest.approx(5 / 6)),
    ]


def test_charts_of_a_history_have_the_same_points_by_rate_in_per_cent() -> None:
    mutants = whole().result.mutants
    found = over_rate(mutants)
    assert [step for step, _ in found["obj_ms_miss_over_rate/mc_dropout, net"]] == [10, 30, 50]
    assert found["ms_iou_over_rate/mc_dropblock, block 1, net"] == [
        (10, curves(mutants)["ms_iou"][1].points[0].value)
    ]
    assert len(found) == 4 * 3
    assert over_rate(()) == {}


def test_undefined_scores_are_no_points() -> None:
    iou = curves(whole().result.mutants)["ms_iou"][1]
    assert [point.rate for point in iou.points] == [0.1]  # the blind mutant at 0.3 has no match


def test_images_that_kill_have_wilsons_interval() -> None:
    mutant = whole().result.mutants[2]
    assert score_of(mutant, "img_kills_mg") == (1.0, wilson(2, 2))
    nothing, interval = score_of(replace(mutant, unscorable=2), "img_kills_mg")
    assert math.isnan(nothing)
    assert not interval.known


def test_a_grid_has_a_cell_for_each_rate_and_block() -> None:
    [(name, found)] = grids(whole().result.mutants).items()
    assert name == "mc_dropblock, net"
    misses, _, iou, _ = found
    assert tuple(grid.score for grid in found) == SCORES
    assert (misses.rates, misses.blocks) == ((0.1, 0.3), (1, 3))
    assert misses.cells[0] == (pytest.approx(1 / 6), pytest.approx(2 / 6))
    assert misses.cells[1] == (1.0, None)
    assert iou.cells[1][0] is not None
    assert math.isnan(iou.cells[1][0])


def test_no_mutants_have_no_curves_and_no_grids() -> None:
    assert (curves(()), grids(())) == ({}, {})
