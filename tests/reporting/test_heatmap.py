from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from app.reporting import mutate as m
from app.reporting.heatmap import heat_maps, shade

Builder = Callable[..., m.MutateReport]


def test_a_grid_by_hand(make_report: Builder) -> None:
    a = m.LayerScore("conv", "weight_zeroing", 4, 3, 0.75)
    b = m.LayerScore("fc", "weight_noise", 2, 0, None)
    c = m.LayerScore("(input)", "input_blur", 2, 1, 0.5)
    report = replace(make_report(per_operator=1), by_layer=(c, a, b))
    layers, images = heat_maps(report)
    assert layers.layers == ("conv", "fc")
    assert layers.operators == ("weight_noise", "weight_zeroing")  # the order of the campaign
    assert layers.cells == ((None, a), (b, None))
    assert images.layers == ("(input)",)
    assert images.cells == ((c,),)


def test_no_cells_give_no_grid(make_report: Builder) -> None:
    report = make_report(per_operator=1)
    assert heat_maps(replace(report, by_layer=())) == ()
    assert [grid.layers for grid in heat_maps(make_report(per_operator=2, layers=0))] == [("(input)",)]


def test_an_operator_that_the_campaign_does_not_name_has_a_column(make_report: Builder) -> None:
    report = replace(make_report(per_operator=1), by_layer=(m.LayerScore("conv", "own", 1, 1, 1.0),))
    assert heat_maps(report)[0].operators == ("own",)


def test_every_cell_of_a_report_is_in_a_grid(make_report: Builder) -> None:
    report = make_report()
    shown = [cell for grid in heat_maps(report) for row in grid.cells for cell in row if cell]
    assert sorted(shown, key=repr) == sorted(report.by_layer, key=repr)


def test_shades_are_eleven_steps_with_one_half_in_the_middle() -> None:
    assert [shade(x) for x in (0.0, 0.04, 0.05, 0.5, 0.95, 1.0)] == [0, 0, 1, 5, 10, 10]
