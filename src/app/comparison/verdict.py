"""The verdict of a comparison: which differences can decide it, and which one does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.comparison.results import Decision, Delta, Rule, Verdict

DECIDES = frozenset({"beyond noise", "by size alone", "a fact"})


@dataclass(frozen=True)
class Candidate:
    """A number that may decide."""

    delta: Delta
    """In both runs."""
    smallest: float = 0.0
    """Difference from which on it matters; in the unit of the number."""
    fact: bool = False
    """Whether it is known without any chance."""

    @property
    def rule(self) -> Rule | None:
        """What its difference is worth; None if a run lacks the number."""
        moved = self.delta.difference
        if moved is None:
            return None
        if self.delta.judgement == "equal":
            return "equal"
        if self.delta.judgement == "within noise":
            return "within noise"
        if abs(moved) < self.smallest - 1e-9:
            return "too small"
        if self.fact:
            return "a fact"
        return "by size alone" if self.delta.judgement == "untested" else "beyond noise"

    @property
    def worse(self) -> bool:
        """Whether it moved for the worse."""
        return ((self.delta.difference or 0.0) < 0) == (self.delta.better == "higher")

    @property
    def size(self) -> float:
        """Its difference, in differences that matter."""
        return abs(self.delta.difference or 0.0) / (self.smallest or 1.0)


def decide(candidates: Sequence[Candidate]) -> tuple[Verdict, bool, Decision]:
    """The verdict, whether the deciding difference is within noise, and what decided.

    Whatever got worse beyond noise, and far enough to matter, makes a regression, even if something else got better:
    a gate must not be paid off. Else whatever got better makes an improvement. Else nothing changed.

    Args:
        candidates: numbers that may decide, the most telling first.
    """
    known = [(each, each.rule) for each in candidates if each.rule is not None]
    moved = [(each, rule) for each, rule in known if rule in DECIDES]
    outcomes: tuple[tuple[Verdict, bool], ...] = (("regressed", True), ("improved", False))
    for verdict, worse in outcomes:
        deciding = [(each, rule) for each, rule in moved if each.worse is worse]
        if deciding:
            chosen, rule = deciding[0]
            against = tuple(each.delta.key for each, _ in moved if each.worse is not worse)
            return verdict, False, Decision(chosen.delta.key, rule, chosen.smallest, against)
    if not known:
        return "unknown", False, Decision("", "nothing shared", None)
    order: tuple[Rule, ...] = ("within noise", "too small", "equal")
    chosen, rule = min(known, key=lambda each: (order.index(each[1]), -each[0].size))
    return "unchanged", rule == "within noise", Decision(chosen.delta.key, rule, chosen.smallest)


def overall(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict on several parts: the worst news first."""
    order: tuple[Verdict, ...] = ("regressed", "improved", "unchanged")
    for verdict in order:
        if verdict in verdicts:
            return verdict
    return "unknown"
