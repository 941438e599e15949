"""What is said about one mutant, and the rule that decides it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from app.limits import Level, Positive, Share
from app.scoring.intervals import Interval
from app.scoring.multiplicity import benjamini_hochberg
from app.scoring.paired import Paired

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]

MOST_RESAMPLES = 100_000
"""Of a bootstrap: more is a slip of the finger, and takes memory for each."""
ROUNDING = 1e-9
"""A difference of fractions that reaches its threshold but for this much reaches it."""


class Verdict(StrEnum):
    """What happened to a mutant. Profile `thresholds` uses killed, survived and invalid only."""

    KILLED = "killed"
    """The test cases notice it: significant, and an effect of at least delta."""
    KILLED_WEAK = "killed_weak"
    """Significant, but the effect is below delta."""
    SURVIVED = "survived"
    """Not significant."""
    INCONCLUSIVE = "inconclusive"
    """A sequential test ran out of test cases before it could tell."""
    EQUIVALENT = "equivalent"
    """It changes no output."""
    DUPLICATE = "duplicate"
    """Its outputs are those of an earlier mutant."""
    INVALID = "invalid"
    """It could not be run, or an output was not finite."""


SCORED = (Verdict.KILLED, Verdict.KILLED_WEAK, Verdict.SURVIVED, Verdict.INCONCLUSIVE)
"""The verdicts in the denominator of the mutation score."""


@dataclass(frozen=True)
class Rule:
    """When a mutant is killed, and how intervals are made."""

    q: Level = 0.05
    """False-discovery rate over the mutants, and family-wise error over the test cases of a stochastic
    mutant."""
    delta: Share = 0.01
    """Smallest loss of accuracy worth a kill, a fraction."""
    p0: Level = 0.01
    """Probability that one repetition of a stochastic mutant loses a test case by chance."""
    level: Level = 0.95
    """Confidence level of every interval."""
    resamples: Positive = 1000
    """Bootstrap resamples of the test cases."""

    def __post_init__(self) -> None:
        for name in ("q", "p0", "level"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"{name} must lie between 0 and 1, not {getattr(self, name)}")
        if not 0 <= self.delta <= 1:
            raise ValueError(f"delta must be a loss of accuracy in [0, 1], not {self.delta}")
        if not 1 <= self.resamples <= MOST_RESAMPLES:
            raise ValueError(f"resamples must be from 1 to {MOST_RESAMPLES:,}, not {self.resamples}")


@dataclass(frozen=True)
class MutantVerdict:
    """The statistical verdict on one mutant; numbers are NaN where it has none."""

    verdict: Verdict
    """What happened."""
    decided_by: str
    """What decided it: `mcnemar` or `binomial` (over repetitions), `shift`, `outputs`, or `reason`."""
    trivial: bool
    """Killed, and either no better than chance or killed by at least 90 % of the test cases the original
    gets right."""
    p_value: float
    """Raw p of the paired test."""
    p_adjusted: float
    """Benjamini-Hochberg over the scored mutants; NaN for a mutant that is not scored."""
    effect: float
    """Loss of accuracy, a fraction; negative if the mutant is better."""
    effect_ci: Interval
    """Its interval."""
    cohens_h: float
    """The same loss as Cohen's h."""
    accuracy: float
    """Accuracy of the mutant, the mean over its repetitions."""
    kills: int
    """Test cases that kill it."""
    reason: str | None
    """Why it is invalid, equivalent or a duplicate; None otherwise."""
    twin: int | None
    """Index of the earlier mutant with the same outputs, for a duplicate."""


@dataclass(frozen=True)
class Decisions:
    """Which of M scored mutants the rule kills, under B weightings of the test cases."""

    p_adjusted: Floats
    """(B, M): Benjamini-Hochberg over the mutants."""
    significant: Flags
    """(B, M): killed or killed_weak."""
    killed: Flags
    """(B, M): killed."""


def decide(paired: Paired, rule: Rule) -> Decisions:
    """Apply the rule to the tests of the scored mutants."""
    adjusted = benjamini_hochberg(paired.p_value)
    significant = adjusted <= rule.q
    return Decisions(adjusted, significant, significant & (paired.effect >= rule.delta - ROUNDING))
