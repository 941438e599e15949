"""Profile `thresholds`: a mutant is killed if any signal of the diagnosis moves by its threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields

import numpy as np

from app.limits import MoreThanNothing
from app.scoring.verdict import ROUNDING, Verdict


@dataclass(frozen=True)
class Thresholds:
    """How far each signal must move to kill; the fields are the signals."""

    accuracy_drop: MoreThanNothing = 0.02
    """Loss of accuracy, a fraction."""
    recall_drop: MoreThanNothing = 0.10
    """Loss of recall of the class that lost most, a fraction."""
    ece_rise: MoreThanNothing = 0.05
    """Rise of the expected calibration error."""
    autopsy_score_drop: MoreThanNothing = 5.0
    """Loss of autopsy score, in its points of 0 to 100."""
    new_causes: MoreThanNothing = 1
    """Cause types that the original does not have."""

    def __post_init__(self) -> None:
        for name, value in zip(SIGNALS, astuple(self), strict=True):
            if not 0 < value < float("inf"):
                raise ValueError(f"the threshold of {name} must be a number above 0, not {value}")


SIGNALS: tuple[str, ...] = tuple(each.name for each in fields(Thresholds))
"""The signals, in the order of reports."""


@dataclass(frozen=True)
class Reading:
    """One signal of one mutant."""

    signal: str
    """Which signal."""
    value: float
    """How much worse than the original; NaN if it was not measured."""
    threshold: float
    """What it takes to kill."""

    @property
    def measured(self) -> bool:
        """Whether there is a value."""
        return not np.isnan(self.value)

    @property
    def fired(self) -> bool:
        """Whether it kills the mutant."""
        return bool(self.value >= self.threshold - ROUNDING)

    @property
    def reach(self) -> float:
        """How far it came: 1 at the threshold, 0 if it did not get worse or was not measured.

        New causes are worth 1 at the first, and a quarter more for each further one, up to 2.
        """
        if not self.value > 0:
            return 0.0
        if self.signal == "new_causes":
            return min(2.0, 1 + 0.25 * (self.value - 1))
        return self.value / self.threshold


@dataclass(frozen=True)
class Difficulty:
    """How hard a mutant is to notice."""

    score: float
    """The largest reach of its signals; NaN if nothing was measured."""

    @property
    def label(self) -> str | None:
        """`easy` from 1.5 on, `medium` from 0.5 on, else `hard`; None if nothing was measured."""
        if np.isnan(self.score):
            return None
        if self.score >= 1.5 - ROUNDING:
            return "easy"
        return "medium" if self.score >= 0.5 - ROUNDING else "hard"


@dataclass(frozen=True)
class ThresholdVerdict:
    """The threshold verdict on one mutant."""

    verdict: Verdict
    """Killed, survived or invalid."""
    decided_by: str | None
    """The signal that fired and reached furthest; None if none fired."""
    readings: tuple[Reading, ...]
    """Every signal, in order."""
    difficulty: Difficulty
    """How hard it is to notice."""

    @property
    def closest(self) -> Reading:
        """The signal that reached furthest; of equals the first that was measured."""
        return max(self.readings, key=lambda reading: (reading.reach, reading.measured))


def threshold_verdict(
    changes: Mapping[str, float] | None, thresholds: Thresholds | None = None
) -> ThresholdVerdict:
    """Judge one mutant.

    Args:
        changes: how much worse than the original it is, by signal; a signal that is missing or NaN was not
            measured. None for an invalid mutant.
        thresholds: the defaults if not given.

    Raises:
        ValueError: for a signal that does not exist.
    """
    limits = thresholds or Thresholds()
    values = changes or {}
    if strange := [name for name in values if name not in SIGNALS]:
        raise ValueError(f"signals are {', '.join(SIGNALS)}, not {', '.join(strange)}")
    readings = tuple(
        Reading(name, float(values.get(name, float("nan"))), float(getattr(limits, name))) for name in SIGNALS
    )
    if changes is None:
        return ThresholdVerdict(Verdict.INVALID, None, readings, Difficulty(float("nan")))
    measured = any(reading.measured for reading in readings)
    difficulty = Difficulty(max(reading.reach for reading in readings) if measured else float("nan"))
    fired = [reading for reading in readings if reading.fired]
    if not fired:
        return ThresholdVerdict(Verdict.SURVIVED, None, readings, difficulty)
    strongest = max(fired, key=lambda reading: reading.reach)
    return ThresholdVerdict(Verdict.KILLED, strongest.signal, readings, difficulty)


def threshold_score(verdicts: Sequence[ThresholdVerdict]) -> float:
    """Mutation score of the profile, killed / (killed + survived); NaN if all are invalid."""
    valid = [each.verdict is Verdict.KILLED for each in verdicts if each.verdict is not Verdict.INVALID]
    return sum(valid) / len(valid) if valid else float("nan")
