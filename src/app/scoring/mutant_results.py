"""What is found about single mutants: verdict, signals, difficulty, secondary signals.

Rates and effects are fractions; a number that is not defined is None, or NaN, which is written as null too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Verdict: TypeAlias = Literal[
    "killed", "killed_weak", "survived", "inconclusive", "equivalent", "duplicate", "invalid"
]
ThresholdVerdict: TypeAlias = Literal["killed", "survived", "invalid"]
Nearness: TypeAlias = Literal["near miss", "middle", "far"]
Kind: TypeAlias = Literal["weight", "module", "stochastic", "input"]
Interval: TypeAlias = tuple[float, float] | None
"""Lower and upper bound at 95 %; None where there is none."""
Parameter: TypeAlias = float | int | str | bool | None


@dataclass(frozen=True)
class Signal:
    """How far a signal moved from the original to the mutant, against its threshold."""

    value: float | None
    """The change, in the harmful direction; None if unmeasured."""
    threshold: float
    """From where it fires."""
    fired: bool
    """Whether it did."""


@dataclass(frozen=True)
class NewCauses:
    """The signal of cause types that the original does not show."""

    value: int | None
    """How many; None if unmeasured."""
    threshold: int
    """From where it fires."""
    fired: bool
    """Whether it did."""
    causes: tuple[str, ...] = ()
    """Their types."""


@dataclass(frozen=True)
class Signals:
    """The five signals of a mutant."""

    accuracy_drop: Signal
    """Original's accuracy less the mutant's."""
    recall_drop: Signal
    """Largest drop of a class's recall."""
    ece_rise: Signal
    """Mutant's expected calibration error less the original's."""
    autopsy_score_drop: Signal
    """In points of 100."""
    new_causes: NewCauses
    """Cause types that only the mutant shows."""


@dataclass(frozen=True)
class Difficulty:
    """How hard a mutant is to notice."""

    score: float | None
    """Largest ratio of a signal to its threshold: the lower, the harder."""
    label: Literal["easy", "medium", "hard"] | None
    """In words."""


@dataclass(frozen=True)
class ClassRecall:
    """The class in which a loss is least like chance."""

    p_adjusted: float | None
    """Smallest p of the exact McNemar tests within classes, after Holm's adjustment over the classes."""
    name: str | None
    """The class; None if no class lost anything beyond chance (p of 1)."""


@dataclass(frozen=True)
class SecondarySignals:
    """Signals shown beside a verdict, as far as chance goes; they decide nothing."""

    class_recall: ClassRecall | None
    """None for a stochastic mutant, whose repetitions are no pairs."""
    ece_rise_ci: Interval
    """Interval of the signal `ece_rise`, by paired bootstrap over the test cases."""
    autopsy_score_drop_ci: Interval
    """The same of `autopsy_score_drop`, in points of 100."""


@dataclass(frozen=True)
class MutantResult:
    """One mutant and its verdict."""

    key: str
    """Names it everywhere."""
    operator: str
    """Name of its operator."""
    kind: Kind
    """What the operator changes."""
    params: Mapping[str, Parameter]
    """Parameters of the operator."""
    target: str
    """What it changes in the model, `(input)` for images."""
    seed: int
    """Seed of its random values."""
    repetitions: int
    """1 if deterministic."""
    verdict: Verdict
    """Statistical verdict."""
    decided_by: str
    """The test or signal that decided it."""
    verdict_thresholds: ThresholdVerdict
    """Verdict of the profile `thresholds`."""
    trivial: bool
    """Whether any suite would kill it."""
    p_value: float | None
    """Of the test behind the verdict."""
    p_adjusted: float | None
    """After adjustment over mutants."""
    effect: float | None
    """Accuracy drop (risk difference)."""
    effect_ci: Interval
    """Its interval."""
    cohens_h: float | None
    """Effect size between the two accuracies."""
    accuracy: float | None
    """The mutant's accuracy."""
    signals: Signals | None
    """What moved; None for a mutant that gave no outcomes."""
    difficulty: Difficulty | None
    """How hard it is to notice."""
    kills: int
    """Number of test cases that kill it."""
    unchanged: bool = False
    """Whether the operator left every parameter as it was."""
    reason: str | None = None
    """Why it is invalid, equivalent or a duplicate."""
    secondary: SecondarySignals | None = None
    """What is shown beside the verdict; None for a mutant that is not scored, and in older reports."""


@dataclass(frozen=True)
class Survivor:
    """One mutant that the test suite does not kill."""

    key: str
    """The mutant's."""
    distance: float | None
    """How far its closest signal came: 1 at the threshold, 0 if nothing got worse; None if nothing was measured."""
    nearness: Nearness | None
    """The distance in words."""
    closest_signal: str | None
    """The signal that came closest to its threshold."""
    needed: str
    """What would have killed it, in two sentences: by the significance test, and by thresholds alone."""
