"""Secondary signals, shown with a verdict without deciding it: tests within classes, and two signals with intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from app.diagnosis.resampled_signals import Resamples
from app.records import Predictions
from app.scoring.judgement import Judgement
from app.scoring.mutant_results import ClassRecall, Interval, SecondarySignals
from app.scoring.paired import class_tests
from app.stats.bootstrap import case_weights, widened

RESAMPLES = 200
"""Bootstrap resamples of the test cases; 240 mutants of 2,000 test cases take some seconds."""
STREAM = 3
"""Of the random numbers of a campaign's seed; verdicts and suites draw from others."""


def secondary_signals(
    judgement: Judgement,
    original: Predictions,
    mutants: Sequence[Predictions | None],
    changes: Sequence[tuple[float | None, float | None]],
    *,
    labels: NDArray[np.integer],
    class_names: Sequence[str],
    seed: int,
) -> list[SecondarySignals | None]:
    """The signals beside each verdict; None for a mutant that is not scored.

    Args:
        judgement: the verdicts on M mutants over N test cases.
        original: outcomes of the original.
        mutants: M outcomes, or None for a mutant that gave none.
        changes: rise of the calibration error and drop of the autopsy score of each mutant, where measured.
        labels: (N,) true classes.
        class_names: K names.
        seed: of the campaign.
    """
    found: list[SecondarySignals | None] = [None] * len(mutants)
    scored = np.flatnonzero(judgement.scored)
    if not scored.size or not labels.size:
        return found
    recall = class_tests(judgement.screening.discordance.select(scored), labels, len(class_names))
    weights = case_weights(labels.size, RESAMPLES, np.random.default_rng([seed, STREAM]))
    resamples = Resamples(labels, len(class_names), weights)
    base = resamples.draws(original)
    for index, p_values in zip(scored.tolist(), recall, strict=True):
        outcomes, (rise, drop) = mutants[index], changes[index]
        if outcomes is None:
            continue
        draws = resamples.draws(outcomes)
        level = judgement.rule.level
        found[index] = SecondarySignals(
            class_recall=_smallest(p_values, class_names),
            ece_rise_ci=_interval(rise, draws.ece - base.ece, level),
            autopsy_score_drop_ci=_interval(drop, base.autopsy_score - draws.autopsy_score, level),
        )
    return found


def _smallest(p_values: NDArray[np.float64], class_names: Sequence[str]) -> ClassRecall | None:
    if not np.isfinite(p_values).any():
        return None
    place = int(np.nanargmin(p_values))
    # Nothing was lost anywhere: no class stands out.
    name = class_names[place] if p_values[place] < 1 else None
    return ClassRecall(float(p_values[place]), name)


def _interval(value: float | None, draws: NDArray[np.float64], level: float) -> Interval:
    if value is None or not np.isfinite(value) or not np.isfinite(draws).all():
        return None
    interval = widened(value, draws, level)
    return interval.low, interval.high
