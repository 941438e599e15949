"""What is wrong with a model: metrics, calibration, the autopsy score, causes, from outcomes alone.

`diagnose` is the whole autopsy of a classifier from its probabilities; `signals.signals` gives the numbers of it
that can be compared between a model and its mutants; `detection` evaluates detectors.
"""

from app.diagnosis.autopsy import Autopsy, diagnose
from app.diagnosis.calibration import Reliability, reliability
from app.diagnosis.causes import Finding, find_causes
from app.diagnosis.data_faults import LeakageCounts, QualityCounts
from app.diagnosis.metrics import confusion
from app.diagnosis.score import AutopsyScore, autopsy_score
from app.diagnosis.signals import Signals, changes, new_causes

__all__ = [
    "Autopsy",
    "AutopsyScore",
    "Finding",
    "LeakageCounts",
    "QualityCounts",
    "Reliability",
    "Signals",
    "autopsy_score",
    "changes",
    "confusion",
    "diagnose",
    "find_causes",
    "new_causes",
    "reliability",
]
