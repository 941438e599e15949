"""What a comparison says: typed, in the order in which a report has it. Everything is after less before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from app.comparison.differences import Ends, Method
from app.measures import Better, Unit

Verdict: TypeAlias = Literal["improved", "regressed", "unchanged", "unknown"]
Judgement: TypeAlias = Literal["better", "worse", "within noise", "equal", "changed", "untested", "unknown"]
"""`better` and `worse`: beyond chance, or a plain count. `changed`: neither direction is better. `untested`: nothing is
known about chance. `unknown`: a run lacks the number."""
Rule: TypeAlias = Literal[
    "beyond noise",
    "by size alone",
    "a fact",
    "within noise",
    "too small",
    "equal",
    "nothing shared",
    "different things",
]
"""Why a difference decides, or does not: beyond chance and large enough; large enough, and nothing is known about
chance; a count or share of all there is, about which there is no chance; explained by chance; too small to matter; none
at all; the runs share no number that could decide; the numbers that could are of different things."""


@dataclass(frozen=True)
class Delta:
    """One number in both runs."""

    key: str
    """Such as `accuracy` or `recall/cat`."""
    title: str
    """In words."""
    unit: Unit
    """How it is shown."""
    better: Better
    """Which direction is better."""
    headline: bool
    """Whether it stands for the reports."""
    before: float | None
    before_ci: Ends
    after: float | None
    after_ci: Ends
    difference: float | None
    """After less before; None if a run lacks the number."""
    ci: Ends
    """Its 95 % interval; None if nothing is known about chance."""
    p_value: float | None
    """Two-sided."""
    method: Method | None
    """How chance was taken into account."""
    n: int | None
    """Pairs that were looked at, where both runs saw the same cases."""
    judgement: Judgement
    note: str = ""
    """Why there is no number, or what it is of."""


@dataclass(frozen=True)
class Decision:
    """What decided the verdict."""

    key: str
    """The number; empty if none could."""
    rule: Rule
    """Why."""
    smallest: float | None
    """Difference from which on it matters."""
    against: tuple[str, ...] = ()
    """Numbers that moved the other way, beyond noise and far enough to matter."""


@dataclass(frozen=True)
class ClassChange:
    """One class in both runs."""

    name: str
    support_before: int | None
    """Its test cases, or true boxes."""
    support_after: int | None
    before: Mapping[str, float | None]
    """Its numbers in the first run: recall, precision, f1, ap."""
    after: Mapping[str, float | None]
    recall_ci: Ends
    """Interval of the difference of recall."""
    recall_p: float | None
    """Its p, adjusted over the classes by Holm."""
    judgement: Judgement
    """About recall."""


@dataclass(frozen=True)
class CauseChange:
    """A diagnosed cause in one run or both."""

    cause_type: str
    affected: tuple[str, ...]
    """Classes or files."""
    before: float | None
    """How sure the first run is of it; None if it has none."""
    after: float | None
    severity: str
    """In the last run that has it; empty if not said."""


@dataclass(frozen=True)
class Causes:
    """Diagnosed causes."""

    new: tuple[CauseChange, ...]
    """Only in the second run."""
    resolved: tuple[CauseChange, ...]
    """Only in the first run."""
    persisting: tuple[CauseChange, ...]
    """In both."""


@dataclass(frozen=True)
class ConfusionMove:
    """A class taken for another one, in both runs."""

    label: str
    predicted: str
    count_before: int
    count_after: int
    rate_before: float | None
    """Share of the class's test cases; None without any, or where it is not known."""
    rate_after: float | None


@dataclass(frozen=True)
class MutantChange:
    """A mutant whose verdict moved."""

    key: str
    operator: str
    target: str
    """Empty if the report does not say."""
    before: str
    """Its verdict."""
    after: str
    effect_before: float | None
    """Accuracy drop of a classifier, Obj-MS of a detector."""
    effect_after: float | None


@dataclass(frozen=True)
class Mutants:
    """The mutants of both runs, by key."""

    common: int
    """Judged in both runs."""
    killed_both: int
    survived_both: int
    newly_killed: tuple[MutantChange, ...]
    """Noticed in the second run only."""
    newly_surviving: tuple[MutantChange, ...]
    """Noticed in the first run only."""
    only_before: int
    """Judged in the first run only."""
    only_after: int


@dataclass(frozen=True)
class Section:
    """A part of the reports that was not compared."""

    name: str
    reason: str


@dataclass(frozen=True)
class Setting:
    """A setting in which the runs differ."""

    name: str
    before: str
    after: str


@dataclass(frozen=True)
class Comparability:
    """What the runs have in common."""

    artifact: str
    """`assay.<task>`."""
    versions: tuple[int, int]
    """Of the artifact, before and after."""
    generators: tuple[str, str]
    """What wrote them."""
    partial: bool
    """Whether something could not be compared because a report is older or lacks it."""
    same_model: bool | None
    """By digest; None if a report has none."""
    same_data: bool | None
    """By digest."""
    same_settings: bool
    same_classes: bool
    same_cases: bool
    """Whether the test cases were compared one by one."""
    shared_cases: int | None
    """How many."""
    unpaired_reason: str
    """Why they were not compared one by one; empty if they were."""
    classes_common: int
    classes_only_before: tuple[str, ...]
    classes_only_after: tuple[str, ...]
    settings: tuple[Setting, ...]
    """Settings that differ."""
    missing: tuple[str, ...]
    """What one report has and the other lacks, as dotted names."""
    compared_sections: tuple[str, ...]
    skipped_sections: tuple[Section, ...]
    notes: tuple[str, ...]
    """What a reader must know."""
    otherwise: tuple[str, ...] = ()
    """What was measured otherwise, so that nothing is called better or worse for it."""


@dataclass(frozen=True)
class Comparison:
    """Two reports of one kind."""

    verdict: Verdict
    within_noise: bool
    """Whether the difference that decides is explained by chance."""
    decision: Decision
    comparability: Comparability
    deltas: tuple[Delta, ...]
    """Numbers that stand for the reports first."""
    classes: tuple[ClassChange, ...] = ()
    """The common ones, those that lost most recall first."""
    causes: Causes | None = None
    """None where reports have none."""
    confusion: tuple[ConfusionMove, ...] = ()
    """The pairs that moved most."""
    mutants: Mutants | None = None
    """None where reports have none."""
    parts: tuple[Part, ...] = ()
    """Of checkups."""

    def delta(self, key: str) -> Delta | None:
        """The delta of this key, if there is one."""
        return next((each for each in self.deltas if each.key == key), None)


@dataclass(frozen=True)
class Part:
    """One part of two checkups."""

    name: str
    """autopsy, mutate, estimate or contaminate."""
    comparison: Comparison | None
    """None if it could not be compared."""
    reason: str = ""
    """Why not."""
