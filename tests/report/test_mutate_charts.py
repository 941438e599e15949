"""What a mutation report draws: its bars, its grids and its curves, as numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from app.report.charts import BarRow, HeatCell, Line, Point
from app.report.pages.mutate import Report
from app.report.pages.mutate.charts import MOST_CURVES, curves, heat_maps, score_bars
from app.report.words import percent
from app.scoring.rates import over_rate, rate_of
from tests.report.campaigns import changed, m

Builder = Callable[..., Report]


def stochastic(make_report: Builder, **changes: Any) -> m.MutantResult:
    base = next(x for x in make_report(per_operator=1).result.mutants if x.kind == "stochastic")
    given = {"operator": "mc_dropout", "target": "fc", "effect": 0.1, "effect_ci": (0.05, 0.15), **changes}
    return replace(base, **given)


def lines_of(mutants: list[m.MutantResult]) -> tuple[Line, ...]:
    drawn = curves(mutants)
    assert drawn is not None
    return drawn.lines


def test_curves_by_hand(make_report: Builder) -> None:
    mutants = [
        stochastic(
            make_report, params={"rate": rate, "block": block}, operator="mc_dropblock", effect=rate / 2
        )
        for block in (1, 3)
        for rate in (0.3, 0.1)
    ]
    drawn = curves(mutants)
    assert drawn is not None
    first, second = drawn.lines
    assert first == Line(
        "mc_dropblock, block 1", (Point(0.1, 0.05, (0.05, 0.15)), Point(0.3, 0.15, (0.05, 0.15))), "0", 0
    )
    assert (second.name, second.colour, second.dash) == ("mc_dropblock, block 3", "1", 0)
    assert drawn.x.ticks == ((0.1, "0.1"), (0.3, "0.3"))
    assert (drawn.x.low, drawn.x.high, drawn.y.low, drawn.y.unit) == (0.1, 0.3, 0.0, "points")


def test_targets_are_named_where_there_are_several(make_report: Builder) -> None:
    mutants = [
        stochastic(make_report, params={"rate": rate}, target=target)
        for target in ("drop1", "drop2")
        for rate in (0.1, 0.2)
    ]
    assert [line.name for line in lines_of(mutants)] == ["mc_dropout, drop1", "mc_dropout, drop2"]


def test_what_makes_no_curve_is_left_out(make_report: Builder) -> None:
    alone = stochastic(make_report, params={"rate": 0.1})
    no_effect = replace(alone, params={"rate": 0.2}, effect=None)
    undefined = replace(alone, params={"rate": 0.2}, effect=math.nan)
    no_rate = replace(alone, params={"p": 0.2})
    switched = replace(alone, params={"rate": True})
    other_kind = replace(alone, params={"rate": 0.3}, kind="weight")
    same_rate = replace(alone, effect=0.9)
    rest = [no_effect, undefined, no_rate, switched, other_kind, same_rate]
    assert curves([alone, *rest]) is None
    assert curves([]) is None
    [line] = lines_of([alone, *rest, replace(alone, params={"rate": 0.2}, effect=0.3)])
    assert [(point.x, point.y) for point in line.points] == [(0.1, 0.1), (0.2, 0.3)]
    assert [rate_of(each) for each in (alone, no_rate, switched)] == [0.1, None, None]


def test_effects_below_zero_are_on_the_axis(make_report: Builder) -> None:
    """The axis begins at 0 unless an effect, or the end of its interval, lies below."""
    at = {"params": {"rate": 0.1}}, {"params": {"rate": 0.2}, "effect_ci": (-0.01, 0.2)}
    drawn = curves([stochastic(make_report, **each) for each in at])
    assert drawn is not None
    assert drawn.y.low is None


def test_many_rates_and_curves(make_report: Builder) -> None:
    mutants = [
        stochastic(make_report, operator=f"op{i:02d}", params={"rate": rate / 100}, effect=rate * i / 1000)
        for i in range(12)
        for rate in range(1, 100)
    ]
    drawn = curves(mutants)
    assert drawn is not None
    assert len(drawn.lines) == MOST_CURVES
    assert len({(line.colour, line.dash) for line in drawn.lines}) == MOST_CURVES
    assert drawn.x.ticks is not None
    assert 2 <= len(drawn.x.ticks) <= 12
    assert all(len(line.points) == 99 for line in drawn.lines)


def test_scores_over_the_rate_by_hand(make_report: Builder) -> None:
    def at(rate: float, verdict: str, effect: float | None, **more: Any) -> m.MutantResult:
        return stochastic(make_report, params={"rate": rate}, verdict=verdict, effect=effect, **more)

    mutants = [
        at(0.5, "killed", 0.3, target="drop1"),
        at(0.5, "survived", 0.1, target="drop2"),
        at(0.05, "killed_weak", 0.01),
        at(0.05, "invalid", None),
        at(0.1, "equivalent", 0.0),  # does not count
        at(0.1, "killed", 0.2, operator="once"),  # no curve of one rate
        at(0.2, "killed", 0.2, kind="weight"),
    ]
    assert over_rate(mutants) == {
        "mutation_score_over_rate/mc_dropout": [(5, 0.0), (50, 0.5)],
        "accuracy_drop_over_rate/mc_dropout": [(5, 0.01), (50, 0.2)],
    }
    assert over_rate([]) == {}


def test_a_grid_by_hand(make_report: Builder) -> None:
    a = m.LayerScore("conv", "weight_zeroing", 4, 3, 0.75)
    b = m.LayerScore("fc", "weight_noise", 2, 0, None)
    c = m.LayerScore("(input)", "input_blur", 2, 1, 0.5)
    report = changed(make_report(per_operator=1), by_layer=(c, a, b))
    layers, images = heat_maps(report)
    assert layers.rows == ("conv", "fc")
    assert layers.columns == ("weight_noise", "weight_zeroing")  # the order of the campaign
    assert layers.cells == (
        (None, HeatCell("75", 8, "weight_zeroing in conv: 3 of 4 killed, score 75 %")),
        (HeatCell("–", None, "weight_noise in fc: 0 of 2 killed, score –"), None),
    )
    assert images.rows == ("(input)",)
    assert images.cells == ((HeatCell("50", 5, "input_blur in (input): 1 of 2 killed, score 50 %"),),)


def test_no_cells_give_no_grid(make_report: Builder) -> None:
    report = make_report(per_operator=1)
    assert heat_maps(changed(report, by_layer=())) == ()
    assert [grid.rows for grid in heat_maps(make_report(per_operator=2, layers=0))] == [("(input)",)]


def test_an_operator_that_the_campaign_does_not_name_has_a_column(make_report: Builder) -> None:
    report = changed(make_report(per_operator=1), by_layer=(m.LayerScore("conv", "own", 1, 1, 1.0),))
    assert heat_maps(report)[0].columns == ("own",)


def test_every_cell_of_a_report_is_in_a_grid(make_report: Builder) -> None:
    report = make_report()
    shown = [
        (layer, operator, cell.label)
        for grid in heat_maps(report)
        for layer, row in zip(grid.rows, grid.cells, strict=True)
        for operator, cell in zip(grid.columns, row, strict=True)
        if cell
    ]
    assert sorted(shown) == sorted(
        (
            s.layer,
            s.operator,
            f"{s.operator} in {s.layer}: {s.killed} of {s.mutants} killed, score {percent(s.mutation_score)}",
        )
        for s in report.result.by_layer
    )


def test_bars_are_the_operators_weakest_first(make_report: Builder) -> None:
    base = make_report(per_operator=1)
    one = base.result.by_operator[0]
    strong = replace(one, operator="strong", mutation_score=0.9, mutation_score_ci=(0.8, 1.0), weak=False)
    undefined = replace(one, operator="none", mutation_score=None, mutation_score_ci=None)
    weak = replace(
        one,
        operator="weak",
        mutation_score=0.25,
        mutation_score_ci=(math.nan, 0.5),
        mutation_score_thresholds=0.75,
        weak=True,
    )
    drawn = score_bars(changed(base, by_operator=(strong, undefined, weak)))
    assert [row.name for row in drawn.rows] == ["weak", "strong", "none"]
    assert drawn.rows[0] == BarRow("weak", 0.25, None, weak=True, mark=0.75, shown="25 %")
    assert (drawn.rows[1].value, drawn.rows[1].interval, drawn.rows[1].shown) == (0.9, (0.8, 1.0), "90 %")
    assert (drawn.rows[2].value, drawn.rows[2].interval, drawn.rows[2].shown) == (None, None, "–")
