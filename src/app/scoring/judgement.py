"""From the outcomes of an original and its mutants to verdicts, kill matrix and mutation score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import special

from app.records import Predictions
from app.scoring.killmatrix import KillFacts, KillMatrix, kill_facts
from app.scoring.paired import killing_cases, measure
from app.scoring.screening import Screening, screen
from app.scoring.verdict import SCORED, MutantVerdict, Rule, Verdict, decide, killed_draws
from app.stats import Interval
from app.stats.bootstrap import case_weights, widened
from app.stats.effects import cohens_h, mean_difference, paired_difference
from app.stats.interval import Intervals
from app.stats.proportions import wilson

Flags = NDArray[np.bool_]

CHANCE_LEVEL = 0.05
"""A mutant is near chance if guessing is not refuted at this level."""
TRIVIAL_SHARE = 0.90
"""A mutant killed by this share of the test cases that the original gets right is trivial."""


@dataclass(frozen=True)
class Summary:
    """Verdicts counted, and the mutation score."""

    counts: Mapping[Verdict, int]
    """Mutants of every verdict; together they are all the mutants."""
    trivial: int
    """Killed mutants flagged trivial."""
    mutation_score: float
    """killed / (killed + killed_weak + survived + inconclusive); NaN if no mutant is scored."""
    mutation_score_ci: Interval
    """Bootstrap over the test cases: another suite like this one, the same mutants."""
    mutation_score_ci_mutants: Interval
    """Wilson over the mutants: the same suite, other mutants like these."""

    @property
    def mutants(self) -> int:
        """How many mutants there are."""
        return sum(self.counts.values())


@dataclass(frozen=True)
class Judgement:
    """Verdicts on M mutants over N test cases."""

    verdicts: tuple[MutantVerdict, ...]
    """One for each mutant, in order."""
    kill_matrix: KillMatrix
    """All mutants; the row of an invalid one is empty."""
    screening: Screening
    """What was compared, and which mutants are scored."""
    draws: Flags
    """(B, M): which mutants are killed on each bootstrap resample of the test cases; never one that is not
    scored."""
    rule: Rule
    """The rule applied."""

    @cached_property
    def scored(self) -> Flags:
        """(M,): the mutants in the denominator of the mutation score."""
        return self.screening.scored

    @cached_property
    def killed(self) -> Flags:
        """(M,): the mutants whose verdict is killed."""
        return np.array([each.verdict is Verdict.KILLED for each in self.verdicts], dtype=np.bool_)

    @cached_property
    def summary(self) -> Summary:
        """Verdicts and score of the whole campaign."""
        return self.summarise(np.ones(len(self.verdicts), dtype=np.bool_))

    def summarise(self, mutants: Flags) -> Summary:
        """Verdicts and score of some of the mutants, (M,) flags, as judged within the whole campaign."""
        chosen = [each for each, take in zip(self.verdicts, mutants, strict=True) if take]
        counted = Counter(each.verdict for each in chosen)
        scored = sum(counted[verdict] for verdict in SCORED)
        score = counted[Verdict.KILLED] / scored if scored else float("nan")
        draws = self.draws[:, mutants & self.scored].sum(axis=1) / max(scored, 1)
        return Summary(
            counts={verdict: counted[verdict] for verdict in Verdict},
            trivial=sum(each.trivial for each in chosen),
            mutation_score=score,
            mutation_score_ci=widened(score, draws, self.rule.level),
            mutation_score_ci_mutants=wilson(counted[Verdict.KILLED], scored, self.rule.level),
        )

    @cached_property
    def kill_facts(self) -> KillFacts:
        """Facts of the kill matrix over the scored mutants; its mutants are indices into `verdicts`."""
        rows = np.flatnonzero(self.scored)
        facts = kill_facts(self.kill_matrix.select(rows), self.killed[rows])
        return KillFacts(
            distinct_kill_sets=facts.distinct_kill_sets,
            dominators=tuple(int(rows[row]) for row in facts.dominators),
            minimal_mutation_score=facts.minimal_mutation_score,
            smallest_suite=facts.smallest_suite,
            kills=facts.kills,
            kill_value=facts.kill_value,
            never_killed=tuple(int(rows[row]) for row in facts.never_killed),
        )


def judge(
    original: Predictions,
    mutants: Iterable[Predictions | None],
    labels: NDArray[np.integer],
    *,
    classes: int,
    rng: np.random.Generator,
    reasons: Sequence[str | None] | None = None,
    probe_shifts: Sequence[float | None] | None = None,
    rule: Rule | None = None,
) -> Judgement:
    """Judge every mutant by the statistical profile.

    A mutant of one repetition is tested by the exact McNemar test, one of more by the binomial over its
    repetitions; their p-values are one Benjamini-Hochberg family. Invalid, equivalent and duplicate mutants
    are not tested.

    Args:
        original: outcomes of the original, one repetition over N test cases, all finite.
        mutants: outcomes of each mutant over the same test cases, or None if it could not be run. Read once,
            one at a time, so a generator serves.
        labels: (N,) true classes.
        classes: K.
        rng: draws the bootstrap resamples.
        reasons: why each mutant is invalid, or None; not given is None for all.
        probe_shifts: largest relative output shift of each mutant on the noise probe, or None if it saw none;
            not given is None for all.
        rule: when a mutant is killed; the defaults if not given.

    Raises:
        ValueError: if shapes or lengths do not fit, or an output of the original is not finite.
    """
    rule = rule or Rule()
    if not original.finite:
        raise ValueError("the original gives outputs that are not finite: no mutant can be compared with it")
    screening = screen(original, mutants, labels, reasons=reasons, probe_shifts=probe_shifts)
    scored = np.flatnonzero(screening.scored)
    compared = screening.discordance.select(scored)
    kill_matrix = KillMatrix.pack(killing_cases(screening.discordance, rule.q, rule.p0))
    draws = np.zeros((rule.resamples, len(screening.mutants)), dtype=np.bool_)
    if scored.size:
        draws[:, scored] = killed_draws(compared, case_weights(labels.size, rule.resamples, rng), rule)
    return Judgement(_verdicts(screening, kill_matrix, classes, rule), kill_matrix, screening, draws, rule)


def _verdicts(
    screening: Screening, kill_matrix: KillMatrix, classes: int, rule: Rule
) -> tuple[MutantVerdict, ...]:
    discordance, scored = screening.discordance, screening.scored
    suite = np.ones((1, discordance.cases), dtype=np.uint8)
    paired = measure(discordance, suite, rule.p0)
    decisions = decide(measure(discordance.select(scored), suite, rule.p0), rule)
    adjusted = np.full(discordance.mutants, np.nan)
    adjusted[scored] = decisions.p_adjusted[0]
    significant, killed = np.zeros((2, discordance.mutants), dtype=np.bool_)
    significant[scored], killed[scored] = decisions.significant[0], decisions.killed[0]
    effects, kills = _effect_intervals(screening, rule.level), kill_matrix.kills()
    base = float(discordance.right.mean()) if discordance.cases else float("nan")
    enough = TRIVIAL_SHARE * int(discordance.right.sum())
    verdicts = []
    for index, seen in enumerate(screening.mutants):
        valid = seen.excluded is not Verdict.INVALID
        verdict = seen.excluded or _outcome(bool(significant[index]), bool(killed[index]))
        trivial = bool(killed[index]) and (
            kills[index] >= enough or _near_chance(seen.accuracy, discordance.cases, classes)
        )
        verdicts.append(
            MutantVerdict(
                verdict=verdict,
                decided_by=_decided_by(verdict, int(discordance.repetitions[index])),
                trivial=trivial,
                p_value=float(paired.p_value[0, index]) if valid else float("nan"),
                p_adjusted=float(adjusted[index]),
                effect=float(paired.effect[0, index]) if valid else float("nan"),
                effect_ci=effects[index] if valid else Interval.unknown(rule.level),
                cohens_h=float(cohens_h(base, seen.accuracy)) if valid else float("nan"),
                accuracy=seen.accuracy,
                kills=int(kills[index]),
                reason=seen.reason,
                twin=seen.twin,
            )
        )
    return tuple(verdicts)


def _outcome(significant: bool, killed: bool) -> Verdict:
    if killed:
        return Verdict.KILLED
    return Verdict.KILLED_WEAK if significant else Verdict.SURVIVED


def _decided_by(verdict: Verdict, repetitions: int) -> str:
    excluded = {Verdict.INVALID: "reason", Verdict.EQUIVALENT: "shift", Verdict.DUPLICATE: "outputs"}
    return excluded.get(verdict) or ("mcnemar" if repetitions == 1 else "binomial")


def _effect_intervals(screening: Screening, level: float) -> Intervals:
    """Intervals of the loss of accuracy: paired score if deterministic, mean per-case loss if stochastic."""
    discordance = screening.discordance
    lost = discordance.lost.sum(axis=1, dtype=np.int64)
    gained = discordance.gained.sum(axis=1, dtype=np.int64)
    fixed = paired_difference(lost, gained, discordance.cases, level)
    low, high = fixed.low.copy(), fixed.high.copy()
    for mutant in np.flatnonzero(discordance.repetitions > 1):
        times = int(discordance.repetitions[mutant])
        loss = (discordance.lost[mutant].astype(np.float64) - discordance.gained[mutant]) / times
        mean = mean_difference(loss.sum(), (loss**2).sum(), discordance.cases, level)
        low[mutant], high[mutant] = mean.low[0], mean.high[0]
    return Intervals(low, high, level)


def _near_chance(accuracy: float, cases: int, classes: int) -> bool:
    """Whether guessing among the classes is not refuted by a one-sided exact binomial test."""
    hits = round(accuracy * cases)
    better = float(special.betainc(hits, cases - hits + 1, 1 / classes)) if hits else 1.0
    return better > CHANCE_LEVEL
