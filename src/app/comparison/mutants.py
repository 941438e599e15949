"""Mutants of two runs, by key: what is noticed now and was not, and the other way round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.comparison.body import Body, at, number, rows
from app.comparison.differences import Difference, paired_means, paired_shares, shares
from app.comparison.results import MutantChange, Mutants

JUDGED = frozenset({"killed", "killed_weak", "survived", "inconclusive"})
"""Verdicts that count in a mutation score; of these `killed` is its numerator."""


@dataclass(frozen=True)
class PairedMutants:
    """The mutants of two runs, and what follows for their scores."""

    found: Mutants
    known: Mapping[str, Difference | None]
    """What chance does to the scores, by key: of the common mutants if there are no others, else of each run's own."""
    killed: Difference | None
    """Share of the common mutants that is noticed."""
    shares: tuple[float, float] | None
    """The same before and after."""

    @property
    def whole(self) -> bool:
        """Whether both runs have the same mutants."""
        return not self.found.only_before and not self.found.only_after

    @property
    def most(self) -> bool:
        """Whether at least half of the mutants of both runs are common."""
        whole = self.found.common + max(self.found.only_before, self.found.only_after)
        return 0 < whole <= 2 * self.found.common


def mutants(before: Body, after: Body) -> PairedMutants | None:
    """The mutants of two runs; None if a report does not list them.

    Args:
        before: report of the first run.
        after: of the second.
    """
    if any(not isinstance(at(each, "mutants"), list | tuple) for each in (before, after)):
        return None
    several = any(
        len({str(row.get("model")) for row in rows(each, "mutants")}) > 1 for each in (before, after)
    )
    first, second = _judged(before, several=several), _judged(after, several=several)
    common = [key for key in first if key in second]
    flags = [np.array([_killed(side[key]) for key in common], dtype=bool) for side in (first, second)]
    moved = [
        [
            _change(key, first[key], second[key])
            for key, a, b in zip(common, *flags, strict=True)
            if (a, b) == which
        ]
        for which in ((False, True), (True, False))
    ]
    found = Mutants(
        common=len(common),
        killed_both=int((flags[0] & flags[1]).sum()),
        survived_both=int((~flags[0] & ~flags[1]).sum()),
        newly_killed=tuple(moved[0]),
        newly_surviving=tuple(sorted(moved[1], key=lambda each: -(each.effect_before or 0.0))),
        only_before=len(first) - len(common),
        only_after=len(second) - len(common),
    )
    detector = at(before, "schema", "artifact") == "assay.uamt"
    made = PairedMutants(
        found=found,
        known={},
        killed=paired_shares(flags[0], flags[1]),
        shares=(float(flags[0].mean()), float(flags[1].mean())) if common else None,
    )
    name = "img_ms_mg" if detector else "mutation_score"
    if not made.whole:
        counts = [(sum(map(_killed, side.values())), len(side)) for side in (first, second)]
        return replace(made, known={name: shares(counts[0], counts[1])})
    groups = {"": np.ones(len(common), dtype=bool)} | _operators(first, common, several=several)
    known: dict[str, Difference | None] = {}
    for operator, members in groups.items():
        ending = f"/{operator}" if operator else ""
        known[name + ending] = paired_shares(flags[0][members], flags[1][members])
        if detector:
            for score, path in (("obj_ms_mg", ("obj_ms", "mg")), ("ms_iou", ("ms_iou",))):
                values = [
                    np.array([_or_nan(at(side[key], *path)) for key in common]) for side in (first, second)
                ]
                known[score + ending] = paired_means(values[0][members], values[1][members])
    return replace(made, known=known)


def _operators(
    side: Mapping[str, Body], common: Sequence[str], *, several: bool
) -> dict[str, NDArray[np.bool_]]:
    """Which of the common mutants each operator made; of several models, by model and operator."""
    names = [
        f"{side[key].get('model')}/{side[key].get('operator')}" if several else str(side[key].get("operator"))
        for key in common
    ]
    return {name: np.array([each == name for each in names], dtype=bool) for name in dict.fromkeys(names)}


def _judged(body: Body, *, several: bool) -> dict[str, Body]:
    """The mutants that count in the score, by key; of several models in either run, by model and key."""
    found = {}
    for each in rows(body, "mutants"):
        verdict = each.get("verdict")
        if verdict is not None and verdict not in JUDGED:
            continue
        found[f"{each.get('model')}/{each.get('key')}" if several else str(each.get("key"))] = each
    return found


def _killed(mutant: Body) -> bool:
    if "verdict" in mutant:
        return bool(mutant["verdict"] == "killed")
    return bool(at(mutant, "img_killed", "mg"))


def _verdict(mutant: Body) -> str:
    if "verdict" in mutant:
        return str(mutant["verdict"])
    return "killed" if _killed(mutant) else "survived"


def _effect(mutant: Body) -> float | None:
    return number(mutant["effect"]) if "effect" in mutant else number(at(mutant, "obj_ms", "mg"))


def _change(key: str, before: Body, after: Body) -> MutantChange:
    return MutantChange(
        key=key,
        operator=str(after.get("operator") or ""),
        target=str(after.get("target") or ""),
        before=_verdict(before),
        after=_verdict(after),
        effect_before=_effect(before),
        effect_after=_effect(after),
    )


def _or_nan(value: Any) -> float:
    found = number(value)
    return np.nan if found is None else found
