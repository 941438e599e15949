"""Health: the whole diagnosis in one word, with the reasons for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.diagnosis.causes import Finding
from app.diagnosis.score import AutopsyScore

SOUND, POOR = 80.0, 60.0
"""An autopsy score from the first on is sound, below the second poor."""
MILD = frozenset({"underconfidence", "class_imbalance"})
"""Causes that cost trust in the numbers and not right answers: they alone never make a model unhealthy."""


@dataclass(frozen=True)
class Health:
    """How the model is."""

    label: str
    """`healthy`, `at risk` or `unhealthy`."""
    reasons: tuple[str, ...]
    """What it rests on: the score if it is not sound, and each finding that counts; empty if healthy."""


def health(score: AutopsyScore, findings: Sequence[Finding]) -> Health:
    """The diagnosis in one word.

    Unhealthy with a poor score or a finding of high severity; at risk with a score that is not sound, a finding
    of medium severity or a mild cause of high severity.

    Args:
        score: the autopsy score.
        findings: what was diagnosed.
    """
    reasons, worst = [], 0
    if not np.isnan(score.overall) and score.overall < SOUND:
        reasons.append(f"autopsy score {score.overall:.1f} of 100")
        worst = 2 if score.overall < POOR else 1
    for each in findings:
        level = {"high": 2, "medium": 1, "low": 0}[each.severity]
        if level:
            names = f" ({', '.join(each.affected[:3])})" if each.affected else ""
            reasons.append(f"{each.severity} {each.cause_type.replace('_', ' ')}{names}")
        worst = max(worst, min(level, 1) if each.cause_type in MILD else level)
    return Health(("healthy", "at risk", "unhealthy")[worst], tuple(reasons))
