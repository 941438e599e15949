from __future__ import annotations

from dataclasses import replace

import pytest

from app.report import png
from app.report.charts import Heat, Lines
from app.report.pages.uamt.charts import MOST_CURVES, by_rate, curves, heat_maps, pictures
from tests.report.detectors import one_mutant, whole

NAMES = ["mc_dropout, net", "mc_dropblock, block 1, net", "mc_dropout, other"]


def test_curves_run_through_the_scores() -> None:
    panels = curves(whole().result)
    assert panels is not None
    misses = panels.charts[0]
    assert isinstance(misses, Lines)
    assert [line.name for line in misses.lines] == NAMES
    assert [(point.x, point.y) for point in misses.lines[0].points] == [
        (0.1, 0.0),
        (0.3, pytest.approx(1 / 6)),
        (0.5, pytest.approx(5 / 6)),
    ]
    assert misses.y.low == 0.0
    figure = png._figure([panels])
    drawn = figure.axes[0].lines[0]
    assert list(drawn.get_ydata()) == pytest.approx([0, 1 / 6, 5 / 6])
    assert [text.get_text() for text in figure.subfigs[0].legends[0].get_texts()] == NAMES
    assert all(axes.get_legend() is None for axes in figure.axes)


def test_more_curves_than_fit_are_left_out_and_said() -> None:
    own = whole().result.mutants[0]
    mutants = tuple(
        replace(own, operator=f"o{i}", rate=rate) for i in range(MOST_CURVES + 2) for rate in (0.1, 0.2)
    )
    panels = curves(replace(whole().result, mutants=mutants))
    assert panels is not None
    assert all(isinstance(each, Lines) and len(each.lines) == MOST_CURVES for each in panels.charts)
    assert panels.note == "The first 12 of 14 curves."


def test_the_heat_map_numbers_every_cell() -> None:
    [panels] = heat_maps(whole().result).values()
    misses, iou = panels.charts[0], panels.charts[2]
    assert isinstance(misses, Heat)
    assert isinstance(iou, Heat)
    assert (misses.rows, misses.columns) == (("0.1", "0.3"), ("1", "3"))
    told = [(cell.text, cell.step) if cell else None for row in misses.cells for cell in row]
    assert told == [("17", 6), ("33", 7), ("100", 10), None]
    assert iou.cells[1][0] is not None
    assert (iou.cells[1][0].text, iou.cells[1][0].step) == ("–", None)
    axes = png._figure([panels]).axes[0]
    assert [text.get_text() for text in axes.texts] == ["17", "33", "100"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("block", "rate")


def test_an_operator_has_its_means_by_rate() -> None:
    result = whole().result
    first = result.operators[0]
    drawn = by_rate(first, result.by_rate(first))
    assert drawn.rows == ("0.1", "0.3", "0.5")
    assert drawn.columns[3] == "Obj-MS miss"
    column = [row[3] for row in drawn.cells]
    assert [(cell.text, cell.step) for cell in column if cell] == [("0", 5), ("17", 6), ("83", 10)]
    assert result.spearman(first)["obj_ms_miss"] == 1.0


def test_no_rates_and_no_blocks_have_no_charts() -> None:
    assert not any(pictures(one_mutant()).values())


def test_equal_charts_are_equal_files() -> None:
    spec = list(heat_maps(whole().result).values())
    assert png.png(spec) == png.png(spec)
