from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from app.reporting.curves import Curve, Point, curves, over_rate

from app.report.pages.mutate import Report
from tests.report.campaigns import m

Builder = Callable[..., Report]


def stochastic(make_report: Builder, **changes: Any) -> m.MutantResult:
    base = next(x for x in make_report(per_operator=1).mutants if x.kind == "stochastic")
    given = {"operator": "mc_dropout", "target": "fc", "effect": 0.1, "effect_ci": (0.05, 0.15), **changes}
    return replace(base, **given)


def test_curves_by_hand(make_report: Builder) -> None:
    mutants = [
        stochastic(
            make_report, params={"rate": rate, "block": block}, operator="mc_dropblock", effect=rate / 2
        )
        for block in (1, 3)
        for rate in (0.3, 0.1)
    ]
    first, second = curves(mutants)
    assert first == Curve(
        "mc_dropblock, block 1", (Point(0.1, 0.05, (0.05, 0.15)), Point(0.3, 0.15, (0.05, 0.15)))
    )
    assert second.name == "mc_dropblock, block 3"


def test_targets_are_named_where_there_are_several(make_report: Builder) -> None:
    mutants = [
        stochastic(make_report, params={"rate": rate}, target=target)
        for target in ("drop1", "drop2")
        for rate in (0.1, 0.2)
    ]
    assert [c.name for c in curves(mutants)] == ["mc_dropout, drop1", "mc_dropout, drop2"]


def test_what_makes_no_curve_is_left_out(make_report: Builder) -> None:
    alone = stochastic(make_report, params={"rate": 0.1})
    no_effect = replace(alone, params={"rate": 0.2}, effect=None)
    no_rate = replace(alone, params={"p": 0.2})
    other_kind = replace(alone, params={"rate": 0.3}, kind="weight")
    same_rate = replace(alone, effect=0.9)
    assert curves([alone, no_effect, no_rate, other_kind, same_rate]) == ()
    assert curves([]) == ()


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
