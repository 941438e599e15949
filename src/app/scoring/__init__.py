"""From outcomes to verdicts and scores: what a suite of test cases notices of a model's mutants.

The one entry for classifiers is `judge`; everything else asks its `Judgement` further: `breakdown.breakdown` by
group of mutants, `score_suites` by part of the test cases, `survivors.survivors` for what nothing killed.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.scoring.breakdown import Group
    from app.scoring.coverage import signal_coverage
    from app.scoring.judgement import Judgement, Summary, judge
    from app.scoring.killmatrix import KillFacts, KillMatrix
    from app.scoring.mutant_results import Survivor
    from app.scoring.results import SignalCoverage
    from app.scoring.suites import SuiteDifference, SuiteScore, SuiteScores, score_suites
    from app.scoring.thresholds import (
        SIGNALS,
        Thresholds,
        ThresholdVerdict,
        threshold_score,
        threshold_verdict,
    )
    from app.scoring.verdict import MutantVerdict, Rule, Verdict
    from app.stats import Interval
    from app.stats.multiplicity import benjamini_hochberg, holm

__all__ = [
    "SIGNALS",
    "Group",
    "Interval",
    "Judgement",
    "KillFacts",
    "KillMatrix",
    "MutantVerdict",
    "Rule",
    "SignalCoverage",
    "SuiteDifference",
    "SuiteScore",
    "SuiteScores",
    "Summary",
    "Survivor",
    "ThresholdVerdict",
    "Thresholds",
    "Verdict",
    "benjamini_hochberg",
    "holm",
    "judge",
    "score_suites",
    "signal_coverage",
    "threshold_score",
    "threshold_verdict",
]

_HOMES = {
    "scoring.breakdown": ("Group",),
    "scoring.coverage": ("signal_coverage",),
    "scoring.judgement": ("Judgement", "Summary", "judge"),
    "scoring.killmatrix": ("KillFacts", "KillMatrix"),
    "scoring.mutant_results": ("Survivor",),
    "scoring.results": ("SignalCoverage",),
    "scoring.suites": ("SuiteDifference", "SuiteScore", "SuiteScores", "score_suites"),
    "scoring.thresholds": (
        "SIGNALS",
        "ThresholdVerdict",
        "Thresholds",
        "threshold_score",
        "threshold_verdict",
    ),
    "scoring.verdict": ("MutantVerdict", "Rule", "Verdict"),
    "stats": ("Interval",),
    "stats.multiplicity": ("benjamini_hochberg", "holm"),
}
"""Where names are: SciPy takes a second to import, and whoever only reads a report's result does without."""


def __getattr__(name: str) -> Any:
    """What is imported when it is first used."""
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(import_module(f"app.{home}"), name)
