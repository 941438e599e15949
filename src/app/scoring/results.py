"""The result of a classifier's mutation testing: what its test suite kills.

Rates, scores and intervals are fractions in [0, 1]; only autopsy scores are 0-100. A number that is not
defined (nothing was tried, a class without test cases) is None, or NaN, which is written as null too. The
order of the fields is the order of the JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.measures import Value, value
from app.scoring.mutant_results import Interval, Kind, MutantResult, Survivor

PARTIAL_SCORE = "Autopsy score, of the sub-scores that a mutation run knows"
"""It has neither training data nor images, so that its score is not that of an autopsy."""


@dataclass(frozen=True)
class Settings:
    """What was chosen and changes the numbers."""

    seed: int
    """Seed of the campaign."""
    engine: str
    """How mutants were run: `naive`, or the shared pass."""
    q: float
    """Level of the statistical verdict, after adjustment over mutants."""
    delta: float
    """Smallest accuracy drop that counts as more than `killed_weak`."""
    p0: float
    """Rate of 'was right, now wrong' that a test case of a stochastic mutant may show by chance."""
    repetitions: int
    """Repetitions of the stochastic mutants."""
    thresholds: Mapping[str, float]
    """Threshold of each signal, in the profile `thresholds`."""
    config_digest: str
    """Digest of the composed configuration."""


@dataclass(frozen=True)
class Cause:
    """A diagnosed cause."""

    cause_type: str
    """Such as `class_overlap`."""
    confidence: float
    """In [0, 1]."""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    """The numbers that speak for it, by name."""
    affected: tuple[str, ...] = ()
    """The classes it is about."""


@dataclass(frozen=True)
class ClassScore:
    """How the original did on one class."""

    name: str
    """Class name."""
    support: int
    """Number of test cases of the class."""
    recall: float | None
    """Share of them that were predicted right."""
    precision: float | None
    """Share of the predictions of this class that were right."""


@dataclass(frozen=True)
class Original:
    """The unchanged model on the test cases."""

    accuracy: float | None
    """Share of test cases that were predicted right."""
    accuracy_ci: Interval
    """Its interval."""
    ece: float | None
    """Expected calibration error."""
    autopsy_score: float | None
    """0-100."""
    sub_scores: Mapping[str, float | None]
    """0-100 by name; None where not applicable."""
    causes: tuple[Cause, ...] = ()
    """Diagnosed causes, by confidence."""
    per_class: tuple[ClassScore, ...] = ()
    """One entry a class, in the order of the subject's classes."""


@dataclass(frozen=True)
class Summary:
    """The statistical verdicts, counted; the seven counts add up to `mutants`."""

    mutants: int
    """Number of mutants."""
    killed: int
    """Noticed, with a relevant effect."""
    killed_weak: int
    """Noticed, with an effect below delta."""
    survived: int
    """Not noticed."""
    inconclusive: int
    """Sequential mode: budget spent before a decision."""
    equivalent: int
    """No output moved."""
    duplicate: int
    """Same outputs and kill set as an earlier mutant."""
    invalid: int
    """Could not be judged."""
    trivial: int
    """Killed mutants that any suite would kill."""
    mutation_score: float | None
    """killed / (killed + killed_weak + survived + inconclusive)."""
    mutation_score_ci: Interval
    """Its interval over test cases (bootstrap)."""
    mutation_score_ci_mutants: Interval
    """Its interval over mutants (Wilson)."""

    @property
    def judged(self) -> int:
        """The denominator of the mutation score."""
        return self.killed + self.killed_weak + self.survived + self.inconclusive


@dataclass(frozen=True)
class ThresholdSummary:
    """The verdicts of the profile `thresholds`, counted."""

    killed: int
    """A signal reached its threshold."""
    survived: int
    """No signal did."""
    invalid: int
    """Could not be judged."""
    mutation_score: float | None
    """killed / (killed + survived)."""


@dataclass(frozen=True)
class OperatorScore:
    """The mutants of one operator."""

    operator: str
    """Name of the operator."""
    kind: Kind
    """What it changes."""
    mutants: int
    """Number of its mutants."""
    killed: int
    """As in the summary."""
    killed_weak: int
    """As in the summary."""
    survived: int
    """As in the summary; inconclusive mutants are the rest of `mutants`."""
    equivalent: int
    """As in the summary."""
    duplicate: int
    """As in the summary."""
    invalid: int
    """As in the summary."""
    mutation_score: float | None
    """Mutation score of its mutants alone."""
    mutation_score_ci: Interval
    """Its interval over test cases."""
    mutation_score_thresholds: float | None
    """The same by the profile `thresholds`."""
    weak: bool
    """Whether it is a weak area: a mutation score under 0.50."""


@dataclass(frozen=True)
class LayerScore:
    """The mutants of one operator in one layer: a cell of the heat map."""

    layer: str
    """Target, `(input)` for operators on images. Entries come in the order of the model."""
    operator: str
    """Name of the operator."""
    mutants: int
    """Number of mutants."""
    killed: int
    """How many of them are killed."""
    mutation_score: float | None
    """Their mutation score; None if none could be judged."""


@dataclass(frozen=True)
class SignalCoverage:
    """One signal on the mutants of one kind in one layer; fired, below and unmeasured add up to them."""

    layer: str
    """Which layer, or the pseudo-layer of the inputs."""
    kind: str
    """Kind of operator."""
    signal: str
    """Which signal."""
    fired: int
    """Mutants on which it reached its threshold."""
    below: int
    """Mutants on which it was measured and did not."""
    unmeasured: int
    """Mutants on which it was not measured, the invalid ones among them."""
    only_killer: int
    """Mutants on which it alone fired: without it they would survive profile `thresholds`."""


@dataclass(frozen=True)
class TopCase:
    """A test case that kills many mutants."""

    case: int
    """Its index, from 0."""
    path: str
    """Its file or name."""
    label: str
    """Its class."""
    kills: int
    """How many mutants it kills."""
    kill_value: float
    """The same, but a mutant counts for less the more test cases kill it."""


@dataclass(frozen=True)
class KillMatrix:
    """Which test case kills which mutant, in a few facts."""

    distinct_kill_sets: int
    """Number of different non-empty sets of test cases that kill a mutant."""
    dominators: tuple[str, ...]
    """Mutants whose kill set contains no other's: whoever kills these kills all."""
    minimal_mutation_score: float | None
    """Share of the dominators that are killed."""
    smallest_suite: tuple[int, ...]
    """Indices of few test cases that keep the mutation score, the most useful first."""
    top_cases: tuple[TopCase, ...]
    """The test cases that kill most."""
    never_killed: tuple[str, ...]
    """Mutants that no test case kills."""


@dataclass(frozen=True)
class Suite:
    """A named part of the test cases, scored on its own."""

    name: str
    """Name of the suite."""
    n: int
    """Number of its test cases."""
    mutation_score: float | None
    """Its mutation score."""
    mutation_score_ci: Interval
    """Its interval over test cases."""
    killed: int
    """How many mutants it kills."""


@dataclass(frozen=True)
class SuiteDifference:
    """How much better one suite is than another."""

    a: str
    """Name of the first suite."""
    b: str
    """Name of the second."""
    difference: float | None
    """Mutation score of a less that of b."""
    ci: Interval
    """Its interval (paired bootstrap)."""
    p_value: float | None
    """Two-sided."""


@dataclass(frozen=True)
class MutationResult:
    """What a campaign found."""

    original: Original
    """The unchanged model."""
    summary: Summary
    """Statistical verdicts."""
    summary_thresholds: ThresholdSummary
    """Verdicts of the profile `thresholds`."""
    by_operator: tuple[OperatorScore, ...]
    """One entry an operator, in the order of the campaign."""
    by_layer: tuple[LayerScore, ...]
    """The cells of the heat map."""
    mutants: tuple[MutantResult, ...]
    """One entry a mutant, in the order of the campaign."""
    survivors: tuple[Survivor, ...]
    """The hardest first."""
    signal_coverage: tuple[SignalCoverage, ...]
    """By layer, kind and signal."""
    kill_matrix: KillMatrix
    """Which test case kills which mutant."""
    suites: tuple[Suite, ...] = ()
    """The named suites."""
    suite_differences: tuple[SuiteDifference, ...] = ()
    """Each pair of them."""

    def measures(self) -> list[Value]:
        """The numbers of the campaign, of its operators, and of the original by class."""
        summary, original = self.summary, self.original
        n = sum(each.support for each in original.per_class) or None
        return [
            value(
                "mutation_score",
                summary.mutation_score,
                summary.mutation_score_ci,
                summary.judged,
                headline=True,
            ),
            value("accuracy", original.accuracy, original.accuracy_ci, n, headline=True),
            value("autopsy_score", original.autopsy_score, n=n, title=PARTIAL_SCORE),
            value("ece", original.ece, n=n),
            value("mutation_score_thresholds", self.summary_thresholds.mutation_score),
            value("minimal_mutation_score", self.kill_matrix.minimal_mutation_score),
            *(
                value(name, getattr(summary, name))
                for name in ("mutants", "killed", "killed_weak", "survived")
            ),
            *(
                value(f"sub_score/{name}", number, reason="not applicable")
                for name, number in original.sub_scores.items()
            ),
            *(
                value(
                    f"mutation_score/{each.operator}",
                    each.mutation_score,
                    each.mutation_score_ci,
                    each.mutants,
                    reason="no mutant could be judged",
                )
                for each in self.by_operator
            ),
            *(
                value(
                    f"{name}/{each.name}",
                    getattr(each, name),
                    n=each.support,
                    reason="not defined for this class",
                )
                for name in ("recall", "precision")
                for each in original.per_class
            ),
            value("test_cases", n),
        ]
