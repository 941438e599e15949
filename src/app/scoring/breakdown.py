"""Scores of groups of mutants within one campaign: by operator, by layer, by anything that names a group."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from app.scoring.judgement import Judgement, Summary
from app.scoring.thresholds import ThresholdVerdict, threshold_score

Name = TypeVar("Name", bound=Hashable)

WEAK_BELOW = 0.50
"""A group of mutants with a lower mutation score is a weak area of the suite."""


@dataclass(frozen=True)
class Group(Generic[Name]):
    """The mutants of one name."""

    name: Name
    """Such as an operator, or a pair of layer and operator."""
    members: tuple[int, ...]
    """Indices of its mutants."""
    summary: Summary
    """Their verdicts and their score, as judged within the whole campaign."""
    mutation_score_thresholds: float
    """Their score in profile `thresholds`; NaN if that profile was not applied or scores none of them."""

    @property
    def weak(self) -> bool:
        """Whether it is a weak area; not if no mutant of it is scored."""
        return self.summary.mutation_score < WEAK_BELOW


def breakdown(
    judgement: Judgement, names: Sequence[Name], thresholds: Sequence[ThresholdVerdict] | None = None
) -> tuple[Group[Name], ...]:
    """Groups in order of first appearance.

    Args:
        judgement: of M mutants.
        names: (M,) the group of each mutant.
        thresholds: (M,) verdicts of profile `thresholds`, if it was applied.

    Raises:
        ValueError: if there is not one name, and one threshold verdict if any, a mutant.
    """
    count = len(judgement.verdicts)
    if len(names) != count or (thresholds is not None and len(thresholds) != count):
        raise ValueError(f"there must be one name and one verdict a mutant, {count}, not {len(names)} names")
    members: dict[Name, list[int]] = {}
    for index, name in enumerate(names):
        members.setdefault(name, []).append(index)
    groups = []
    for name, indices in members.items():
        flags = np.zeros(count, dtype=np.bool_)
        flags[indices] = True
        simple = threshold_score([thresholds[index] for index in indices]) if thresholds else float("nan")
        groups.append(Group(name, tuple(indices), judgement.summarise(flags), simple))
    return tuple(groups)
