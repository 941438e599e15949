"""How stochastic operators' mutants fare over the rate of what they drop."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from app.scoring.mutant_results import MutantResult

RATE = "rate"
"""The parameter that is their strength."""
JUDGED = frozenset({"killed", "killed_weak", "survived", "inconclusive"})
"""Verdicts that count in a mutation score."""


def rate_of(mutant: MutantResult) -> float | None:
    """The rate of a stochastic mutant; None if it has none."""
    value = mutant.params.get(RATE)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def over_rate(mutants: Iterable[MutantResult]) -> dict[str, list[tuple[int, float]]]:
    """Mutation score and mean accuracy drop of each stochastic operator by rate, for a history's charts.

    Steps are rates in per cent; operators that were tried at one rate only have no curve.
    """
    groups: dict[str, dict[int, list[MutantResult]]] = {}
    for x in mutants:
        rate = rate_of(x)
        if x.kind == "stochastic" and rate is not None and x.verdict in JUDGED:
            groups.setdefault(x.operator, {}).setdefault(round(100 * rate), []).append(x)
    found: dict[str, list[tuple[int, float]]] = {}
    for operator, by_rate in groups.items():
        for step, rows in sorted(by_rate.items()) if len(by_rate) > 1 else ():
            killed = sum(x.verdict == "killed" for x in rows) / len(rows)
            drops = [x.effect for x in rows if x.effect is not None and np.isfinite(x.effect)]
            found.setdefault(f"mutation_score_over_rate/{operator}", []).append((step, killed))
            if drops:
                mean = sum(drops) / len(drops)
                found.setdefault(f"accuracy_drop_over_rate/{operator}", []).append((step, mean))
    return found
