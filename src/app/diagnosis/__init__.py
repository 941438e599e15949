"""What is wrong with a model: metrics, calibration, the autopsy score, causes, from outcomes alone.

`signals.signals` gives all of them for one model, original or mutant.
"""

from app.diagnosis.calibration import Reliability, reliability
from app.diagnosis.causes import Finding, find_causes
from app.diagnosis.metrics import confusion
from app.diagnosis.score import AutopsyScore, autopsy_score
from app.diagnosis.signals import Signals, changes, new_causes

__all__ = [
    "AutopsyScore",
    "Finding",
    "Reliability",
    "Signals",
    "autopsy_score",
    "changes",
    "confusion",
    "find_causes",
    "new_causes",
    "reliability",
]
