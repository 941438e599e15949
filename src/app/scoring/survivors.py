"""The mutants that survived: how near each came, and what would have killed it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from app.scoring.judgement import Judgement
from app.scoring.mutant_results import Nearness, Survivor
from app.scoring.paired import repetition_tail
from app.scoring.thresholds import Reading, ThresholdVerdict
from app.scoring.verdict import ROUNDING, Verdict
from app.stats.paired_tests import mcnemar

NEAR_MISS, FAR = 0.80, 0.25
"""From this share of the way to a threshold on a survivor is a near miss; below that share it is far."""
_MOVES = {
    "accuracy_drop": "the accuracy fell",
    "recall_drop": "the recall of a class fell",
    "ece_rise": "the calibration error rose",
    "autopsy_score_drop": "the autopsy score fell",
}
"""Signals as clauses."""


def survivors(
    judgement: Judgement, thresholds: Sequence[ThresholdVerdict], keys: Sequence[str]
) -> tuple[Survivor, ...]:
    """Survivors of the statistical profile, hardest to kill first.

    Args:
        judgement: of M mutants.
        thresholds: (M,) their verdicts in profile `thresholds`.
        keys: (M,) their names.
    """
    found = []
    for index, (each, simple) in enumerate(zip(judgement.verdicts, thresholds, strict=True)):
        if each.verdict in {Verdict.SURVIVED, Verdict.INCONCLUSIVE}:
            closest = simple.closest
            needed = f"{needed_losses(judgement, index)} By thresholds alone: {_needed_change(closest)}."
            reach = simple.difficulty.score
            found.append(Survivor(keys[index], reach, _nearness(reach), closest.signal, needed))
    return tuple(sorted(found, key=lambda survivor: np.nan_to_num(survivor.distance or 0.0)))


def _nearness(reach: float) -> Nearness:
    if reach >= NEAR_MISS - ROUNDING:
        return "near miss"
    return "middle" if reach >= FAR - ROUNDING else "far"


def needed_losses(judgement: Judgement, mutant: int) -> str:
    """How many test cases, or repetitions of one, would have to turn wrong to kill a surviving mutant: a sentence.

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
            return f"Never killed: {times} repetitions are too few for {right} test cases."
        return (
            f"Killed if one test case turned from right to wrong in {enough[0]} of {times} repetitions (now in {most} "
            f"at most) and the mean accuracy fell by {_points(rule.delta)} points "
            f"(now by {_points(judgement.verdicts[mutant].effect)})."
        )
    candidates = np.arange(right + 1)
    kills = (mcnemar(candidates, gained) <= limit) & (
        (candidates - gained) / seen.cases >= rule.delta - ROUNDING
    )
    now = f"{lost} did, and {gained} the other way"
    if not kills.any():
        return f"Never killed: {seen.cases} test cases are too few ({lost} turned from right to wrong)."
    needed = int(kills.argmax())
    cases = "test case" if needed == 1 else "test cases"
    return f"Killed if {needed} {cases} turned from right to wrong (now {now})."


def _needed_change(reading: Reading) -> str:
    if not reading.measured:
        return "nothing was measured"
    if reading.signal == "new_causes":
        if reading.fired:
            return f"killed, {reading.value:g} new kinds of causes were found"
        return f"if {reading.threshold:g} new kinds of causes were found (now {reading.value:g})"
    scale = 1.0 if reading.signal == "autopsy_score_drop" else 100.0
    limit, now = _points(reading.threshold, scale), _points(reading.value, scale)
    if reading.fired:
        return f"killed, {_MOVES[reading.signal]} by {now} points"
    return f"if {_MOVES[reading.signal]} by {limit} points (now by {now})"


def _points(amount: float, scale: float = 100.0) -> str:
    """Points with one decimal, or two where it needs them."""
    shown = f"{scale * amount + 0.0:.2f}".removesuffix("0")
    return "0.0" if shown == "-0.0" else shown.replace("-", "−")
