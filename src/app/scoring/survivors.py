"""The mutants that survived: how near each came, and what would have killed it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.scoring.judgement import Judgement
from app.scoring.paired import mcnemar, repetition_tail
from app.scoring.thresholds import Reading, ThresholdVerdict
from app.scoring.verdict import ROUNDING, Verdict

NEAR_MISS, FAR = 0.80, 0.25
"""From this share of the way to a threshold on a survivor is a near miss; below that share it is far."""


@dataclass(frozen=True)
class Survivor:
    """One mutant that no test noticed enough."""

    mutant: int
    """Its index."""
    reach: float
    """How far its closest signal came: 1 at the threshold, 0 if nothing got worse; NaN if nothing was
    measured."""
    closest_signal: str
    """That signal."""
    needed: str
    """What would have killed it, in words: by test, and by threshold."""

    @property
    def nearness(self) -> str:
        """`near miss`, `middle` or `far`."""
        if self.reach >= NEAR_MISS - ROUNDING:
            return "near miss"
        return "middle" if self.reach >= FAR - ROUNDING else "far"


def survivors(judgement: Judgement, thresholds: Sequence[ThresholdVerdict]) -> tuple[Survivor, ...]:
    """Survivors of the statistical profile, hardest to notice first.

    Args:
        judgement: of M mutants.
        thresholds: (M,) their verdicts in profile `thresholds`.
    """
    found = []
    for index, (each, simple) in enumerate(zip(judgement.verdicts, thresholds, strict=True)):
        if each.verdict in {Verdict.SURVIVED, Verdict.INCONCLUSIVE}:
            closest = simple.closest
            needed = f"by test: {needed_losses(judgement, index)}; by threshold: {_needed_change(closest)}"
            found.append(Survivor(index, simple.difficulty.score, closest.signal, needed))
    return tuple(sorted(found, key=lambda survivor: np.nan_to_num(survivor.reach)))


def needed_losses(judgement: Judgement, mutant: int) -> str:
    """How many lost test cases, or lost repetitions of one, would kill a surviving mutant.

    The mutant is killed if its p is at most q (r + 1) / m, with r of m scored mutants significant without
    it, and its effect at least delta, all other mutants as they are.
    """
    rule, seen = judgement.rule, judgement.screening.discordance
    significant = sum(each.verdict in {Verdict.KILLED, Verdict.KILLED_WEAK} for each in judgement.verdicts)
    limit = rule.q * (significant + 1) / max(int(judgement.scored.sum()), 1)
    times, right = int(seen.repetitions[mutant]), int(seen.right.sum())
    lost, gained = int(seen.lost[mutant].sum(dtype=np.int64)), int(seen.gained[mutant].sum(dtype=np.int64))
    if times > 1:
        enough = np.flatnonzero(repetition_tail(times, rule.p0) * right <= limit)
        most = int(seen.lost[mutant].max(initial=0))
        if not enough.size:
            return f"nothing, {times} repetitions are too few for {right} test cases"
        effect = _points(judgement.verdicts[mutant].effect)
        return (
            f"a test case lost in {enough[0]} of {times} repetitions (at most {most} now) and "
            f"{_points(rule.delta)} of accuracy lost on average ({effect} now)"
        )
    candidates = np.arange(right + 1)
    kills = (mcnemar(candidates, gained) <= limit) & (
        (candidates - gained) / seen.cases >= rule.delta - ROUNDING
    )
    if not kills.any():
        return f"nothing, {seen.cases} test cases are too few ({lost} lost and {gained} gained now)"
    return f"{int(kills.argmax())} lost test cases ({lost} lost and {gained} gained now)"


def _needed_change(reading: Reading) -> str:
    if not reading.measured:
        return "nothing was measured"
    if reading.fired:
        return f"nothing more, {reading.signal} fired"
    if reading.signal == "new_causes":
        return f"{reading.threshold:g} new cause types ({reading.value:g} now)"
    if reading.signal == "autopsy_score_drop":
        return f"{reading.signal} of {reading.threshold:.1f} ({reading.value:.1f} now)"
    return f"{reading.signal} of {_points(reading.threshold)} ({_points(reading.value)} now)"


def _points(fraction: float) -> str:
    return f"{100 * fraction:.2f} points"
