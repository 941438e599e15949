"""What a campaign's scoring can be told: the rule of the tests, and the thresholds beside it."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.scoring.thresholds import Thresholds
from app.scoring.verdict import Rule


@dataclass(frozen=True)
class Scoring(Rule):
    """The rule of the statistical verdict, with the thresholds of the other profile."""

    thresholds: Thresholds = field(default_factory=Thresholds)
    """How far each signal must move to kill in the profile `thresholds`."""
