"""The result of a campaign put together from outcomes, verdicts and diagnosis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from app import stats
from app.diagnosis.causes import find_causes
from app.diagnosis.metrics import confusion
from app.diagnosis.signals import Signals as Diagnosis
from app.diagnosis.signals import changes, new_causes, signals
from app.records import Predictions
from app.scoring import judgement as judging
from app.scoring import thresholds as limits
from app.scoring.breakdown import breakdown
from app.scoring.coverage import signal_coverage
from app.scoring.mutant_results import (
    Difficulty,
    Interval,
    Kind,
    MutantResult,
    NewCauses,
    SecondarySignals,
    Signal,
    Signals,
    ThresholdVerdict,
    Verdict,
)
from app.scoring.results import (
    Cause,
    ClassScore,
    KillMatrix,
    LayerScore,
    MutationResult,
    OperatorScore,
    Original,
    Suite,
    SuiteDifference,
    Summary,
    ThresholdSummary,
    TopCase,
)
from app.scoring.secondary import secondary_signals
from app.scoring.suites import SuiteScores
from app.scoring.survivors import survivors
from app.scoring.verdict import MutantVerdict
from app.scoring.verdict import Verdict as Outcome
from app.stats.proportions import wilson

TOP_CASES = 20
"""Test cases listed as those that kill most."""


class Tried(Protocol):
    """A mutant as a report names it."""

    @property
    def key(self) -> str:
        """Its name."""
        ...

    @property
    def operator(self) -> Any:
        """What made it; has a `name`."""
        ...

    @property
    def kind(self) -> Kind:
        """What the operator changes."""
        ...

    @property
    def params(self) -> Mapping[str, float | int | str | bool]:
        """What was chosen."""
        ...

    @property
    def target(self) -> str:
        """Its layer."""
        ...

    @property
    def seed(self) -> int:
        """Its seed."""
        ...

    @property
    def repetitions(self) -> int:
        """T."""
        ...


class Outcomes(Protocol):
    """What was seen of a mutant."""

    @property
    def predictions(self) -> Predictions | None:
        """Over the test cases; None if it could not be run."""
        ...

    @property
    def reason(self) -> str | None:
        """Why it could not."""
        ...

    @property
    def probe_shift(self) -> float:
        """Its largest relative output shift on noise."""
        ...

    @property
    def unchanged(self) -> bool:
        """Whether it left every parameter as it was."""
        ...


@dataclass(frozen=True)
class Measured:
    """One mutant with what was measured of it."""

    mutant: Tried
    """The mutant."""
    outcomes: Outcomes
    """What was seen of it."""
    signals: Diagnosis | None
    """Its diagnosis; None if it could not be run."""


@dataclass(frozen=True)
class Campaign:
    """All that a campaign found, before it is a report."""

    original: Predictions
    """Outcomes of the original."""
    labels: NDArray[np.integer]
    """(N,) true classes."""
    paths: Sequence[str]
    """(N,) names of the test cases."""
    measured: Sequence[Measured]
    """Every mutant."""
    layers: Sequence[str]
    """The layers in the order of the model; others come behind."""
    judgement: judging.Judgement
    """Statistical verdicts."""
    thresholds: limits.Thresholds
    """Of the other profile."""
    suites: SuiteScores | None = None
    """The named suites, if there are any."""


def mutation_result(campaign: Campaign, classes: Sequence[str], seed: int) -> MutationResult:
    """The result of a campaign.

    Args:
        campaign: all that it found.
        classes: (K,) names of the classes.
        seed: of the campaign.
    """
    judgement, measured = campaign.judgement, campaign.measured
    base = signals(campaign.original, campaign.labels, len(classes))
    simple = threshold_verdicts(campaign, base)
    keys = [each.mutant.key for each in measured]
    return MutationResult(
        original=_original(campaign, base, classes),
        summary=_summary(judgement),
        summary_thresholds=ThresholdSummary(
            killed=sum(each.verdict is Outcome.KILLED for each in simple),
            survived=sum(each.verdict is Outcome.SURVIVED for each in simple),
            invalid=sum(each.verdict is Outcome.INVALID for each in simple),
            mutation_score=limits.threshold_score(simple),
        ),
        by_operator=_by_operator(campaign, simple),
        by_layer=_by_layer(campaign),
        mutants=tuple(
            _mutant(each, verdict, threshold, base, other)
            for each, verdict, threshold, other in zip(
                measured,
                _naming_twins(judgement.verdicts, keys),
                simple,
                _secondary(campaign, base, classes, seed),
                strict=True,
            )
        ),
        survivors=survivors(judgement, simple, keys),
        signal_coverage=signal_coverage(
            [each.mutant.target for each in measured], [each.mutant.kind for each in measured], simple
        ),
        kill_matrix=_kill_matrix(campaign, keys, classes),
        suites=_suites(campaign.suites),
        suite_differences=_differences(campaign.suites),
    )


def _naming_twins(verdicts: Sequence[MutantVerdict], keys: Sequence[str]) -> list[MutantVerdict]:
    return [
        each if each.twin is None else replace(each, reason=f"same outputs as {keys[each.twin]}")
        for each in verdicts
    ]


def threshold_verdicts(campaign: Campaign, base: Diagnosis) -> list[limits.ThresholdVerdict]:
    """The verdicts of the profile `thresholds`."""
    return [
        limits.threshold_verdict(
            None if each.signals is None else changes(base, each.signals), campaign.thresholds
        )
        for each in campaign.measured
    ]


def _secondary(
    campaign: Campaign, base: Diagnosis, classes: Sequence[str], seed: int
) -> list[SecondarySignals | None]:
    moved = [None if each.signals is None else changes(base, each.signals) for each in campaign.measured]
    return secondary_signals(
        campaign.judgement,
        campaign.original,
        [each.outcomes.predictions for each in campaign.measured],
        [(each["ece_rise"], each["autopsy_score_drop"]) if each else (None, None) for each in moved],
        labels=campaign.labels,
        class_names=classes,
        seed=seed,
    )


def _original(campaign: Campaign, base: Diagnosis, classes: Sequence[str]) -> Original:
    right = campaign.original.right(campaign.labels)
    matrix = confusion(campaign.original.top1[0], campaign.labels, len(classes))
    causes = find_causes(matrix, campaign.original.confidence[0], right[0], class_names=classes)
    return Original(
        accuracy=base.accuracy,
        accuracy_ci=_interval(wilson(int(right.sum()), right.size, campaign.judgement.rule.level)),
        ece=base.ece,
        autopsy_score=base.autopsy_score,
        sub_scores=dict(base.sub_scores),
        causes=tuple(
            Cause(cause.cause_type, cause.confidence, dict(cause.evidence), cause.affected)
            for cause in causes
        ),
        per_class=tuple(
            ClassScore(name, int(base.support[i]), float(base.recall[i]), float(base.precision[i]))
            for i, name in enumerate(classes)
        ),
    )


def _interval(interval: stats.Interval) -> Interval:
    return (interval.low, interval.high) if interval.known else None


def _summary(judgement: judging.Judgement) -> Summary:
    found = judgement.summary
    return Summary(
        found.mutants,
        **{str(verdict): found.counts[verdict] for verdict in Outcome},
        trivial=found.trivial,
        mutation_score=found.mutation_score,
        mutation_score_ci=_interval(found.mutation_score_ci),
        mutation_score_ci_mutants=_interval(found.mutation_score_ci_mutants),
    )


def _by_operator(campaign: Campaign, simple: Sequence[limits.ThresholdVerdict]) -> tuple[OperatorScore, ...]:
    names = [(str(each.mutant.operator.name), each.mutant.kind) for each in campaign.measured]
    scores = []
    for group in breakdown(campaign.judgement, names, simple):
        counts = group.summary.counts
        scores.append(
            OperatorScore(
                operator=group.name[0],
                kind=group.name[1],
                mutants=group.summary.mutants,
                killed=counts[Outcome.KILLED],
                killed_weak=counts[Outcome.KILLED_WEAK],
                survived=counts[Outcome.SURVIVED],
                equivalent=counts[Outcome.EQUIVALENT],
                duplicate=counts[Outcome.DUPLICATE],
                invalid=counts[Outcome.INVALID],
                mutation_score=group.summary.mutation_score,
                mutation_score_ci=_interval(group.summary.mutation_score_ci),
                mutation_score_thresholds=group.mutation_score_thresholds,
                weak=group.weak,
            )
        )
    return tuple(scores)


def _by_layer(campaign: Campaign) -> tuple[LayerScore, ...]:
    names = [(each.mutant.target, str(each.mutant.operator.name)) for each in campaign.measured]
    order = {layer: place for place, layer in enumerate(campaign.layers)}
    groups = sorted(
        breakdown(campaign.judgement, names), key=lambda group: order.get(group.name[0], len(order))
    )
    return tuple(
        LayerScore(
            *group.name,
            group.summary.mutants,
            group.summary.counts[Outcome.KILLED],
            group.summary.mutation_score,
        )
        for group in groups
    )


def _mutant(
    each: Measured,
    verdict: Any,
    threshold: limits.ThresholdVerdict,
    base: Diagnosis,
    other: SecondarySignals | None,
) -> MutantResult:
    mutant = each.mutant
    return MutantResult(
        key=mutant.key,
        operator=str(mutant.operator.name),
        kind=mutant.kind,
        params=dict(mutant.params),
        target=mutant.target,
        seed=mutant.seed,
        repetitions=mutant.repetitions,
        verdict=cast("Verdict", str(verdict.verdict)),
        decided_by=verdict.decided_by,
        verdict_thresholds=cast("ThresholdVerdict", str(threshold.verdict)),
        trivial=verdict.trivial,
        p_value=verdict.p_value,
        p_adjusted=verdict.p_adjusted,
        effect=verdict.effect,
        effect_ci=_interval(verdict.effect_ci),
        cohens_h=verdict.cohens_h,
        accuracy=verdict.accuracy,
        signals=None if each.signals is None else _signals(threshold, base, each.signals),
        difficulty=Difficulty(threshold.difficulty.score, cast("Any", threshold.difficulty.label)),
        kills=verdict.kills,
        unchanged=each.outcomes.unchanged,
        reason=verdict.reason,
        secondary=other,
    )


def _signals(threshold: limits.ThresholdVerdict, base: Diagnosis, own: Diagnosis) -> Signals:
    readings = {reading.signal: reading for reading in threshold.readings}
    new = readings.pop("new_causes")
    return Signals(
        **{
            name: Signal(reading.value, reading.threshold, reading.fired)
            for name, reading in readings.items()
        },
        new_causes=NewCauses(
            int(new.value) if new.measured else None,
            int(new.threshold),
            new.fired,
            new_causes(base, own),
        ),
    )


def _kill_matrix(campaign: Campaign, keys: Sequence[str], classes: Sequence[str]) -> KillMatrix:
    facts = campaign.judgement.kill_facts
    return KillMatrix(
        facts.distinct_kill_sets,
        tuple(keys[index] for index in facts.dominators),
        facts.minimal_mutation_score,
        facts.smallest_suite,
        tuple(
            TopCase(
                case,
                campaign.paths[case],
                classes[campaign.labels[case]],
                int(facts.kills[case]),
                float(facts.kill_value[case]),
            )
            for case in facts.top_cases(TOP_CASES)
        ),
        tuple(keys[index] for index in facts.never_killed),
    )


def _suites(scores: SuiteScores | None) -> tuple[Suite, ...]:
    if scores is None:
        return ()
    return tuple(
        Suite(s.name, s.cases, s.mutation_score, _interval(s.mutation_score_ci), len(s.killed))
        for s in scores.suites
    )


def _differences(scores: SuiteScores | None) -> tuple[SuiteDifference, ...]:
    if scores is None:
        return ()
    return tuple(
        SuiteDifference(
            d.first, d.second, d.difference.value, _interval(d.difference.ci), d.difference.p_value
        )
        for d in scores.differences
    )
