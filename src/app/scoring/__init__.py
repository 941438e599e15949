"""From outcomes to verdicts and scores: what a suite of test cases notices of a model's mutants.

The one entry for classifiers is `judge`; everything else asks its `Judgement` further: `breakdown.breakdown` by
group of mutants, `score_suites` by part of the test cases, `survivors.survivors` for what nothing killed.
"""

from app.scoring.breakdown import Group
from app.scoring.coverage import SignalCoverage, signal_coverage
from app.scoring.judgement import Judgement, Summary, judge
from app.scoring.killmatrix import KillFacts, KillMatrix
from app.scoring.suites import SuiteDifference, SuiteScore, SuiteScores, score_suites
from app.scoring.survivors import Survivor
from app.scoring.thresholds import SIGNALS, Thresholds, ThresholdVerdict, threshold_score, threshold_verdict
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
