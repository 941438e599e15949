"""Curves of stochastic operators: how much accuracy their mutants cost, over the rate of what is dropped."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from app.reporting.mutants import Interval, MutantResult
from app.reporting.text import defined, parameters

RATE = "rate"
"""The parameter along the curve."""
JUDGED = frozenset({"killed", "killed_weak", "survived"})
"""Verdicts that count in a mutation score."""


@dataclass(frozen=True)
class Point:
    """One mutant on a curve."""

    rate: float
    """Its rate."""
    effect: float
    """Its accuracy drop, a fraction."""
    interval: Interval
    """Interval of the drop."""


@dataclass(frozen=True)
class Curve:
    """The mutants of one stochastic operator that differ only in their rate."""

    name: str
    """The operator, with its other parameters and, where it has several, its target."""
    points: tuple[Point, ...]
    """By rate."""


def curves(mutants: Iterable[MutantResult]) -> tuple[Curve, ...]:
    """The curves with at least two points, in the order of the campaign.

    Mutants without an effect are left out, and of several at one rate the first is taken.
    """
    drawn = [x for x in mutants if x.kind == "stochastic" and defined(x.effect) and _rate(x) is not None]
    targets: dict[str, set[str]] = {}
    for x in drawn:
        targets.setdefault(x.operator, set()).add(x.target)
    groups: dict[str, dict[float, Point]] = {}
    for x in drawn:
        rest = parameters({k: v for k, v in x.params.items() if k != RATE})
        name = ", ".join(
            part for part in (x.operator, rest, x.target if len(targets[x.operator]) > 1 else "") if part
        )
        rate = _rate(x) or 0.0
        groups.setdefault(name, {}).setdefault(rate, Point(rate, x.effect or 0.0, x.effect_ci))
    return tuple(
        Curve(name, tuple(sorted(points.values(), key=lambda p: p.rate)))
        for name, points in groups.items()
        if len(points) > 1
    )


def over_rate(mutants: Iterable[MutantResult]) -> dict[str, list[tuple[int, float]]]:
    """Mutation score and mean accuracy drop of each stochastic operator by rate, for a history's charts.

    Steps are rates in per cent; operators that were tried at one rate only have no curve.
    """
    groups: dict[str, dict[int, list[MutantResult]]] = {}
    for x in mutants:
        rate = _rate(x)
        if x.kind == "stochastic" and rate is not None and x.verdict in JUDGED:
            groups.setdefault(x.operator, {}).setdefault(round(100 * rate), []).append(x)
    found: dict[str, list[tuple[int, float]]] = {}
    for operator, by_rate in groups.items():
        for step, rows in sorted(by_rate.items()) if len(by_rate) > 1 else ():
            killed = sum(x.verdict == "killed" for x in rows) / len(rows)
            drops = [x.effect for x in rows if x.effect is not None and defined(x.effect)]
            found.setdefault(f"mutation_score_over_rate/{operator}", []).append((step, killed))
            if drops:
                mean = sum(drops) / len(drops)
                found.setdefault(f"accuracy_drop_over_rate/{operator}", []).append((step, mean))
    return found


def _rate(mutant: MutantResult) -> float | None:
    value = mutant.params.get(RATE)
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
