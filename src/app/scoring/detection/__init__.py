"""Uncertainty-aware mutation scores of detectors, from saved detections.

`score_logs` takes logs and `score_tree` a DeepLUQ folder tree; both give `DetectionScores`. Profile `paper` is
what the definitions mean, profile `deepluq` what the reference implementation computes.

Example:
    >>> import numpy as np
    >>> from app.detections import DetectionLog, Detections
    >>> from app.scoring.detection import score_logs
    >>> car = Detections(np.array([[0.0, 0, 10, 10]]), np.array([1]), np.array([0.9]), np.array([[0.1, 0.9]]))
    >>> original = DetectionLog.of(["street"], [[car] * 10])
    >>> blind = DetectionLog.of(["street"], [[Detections.none(2)] * 10])
    >>> score_logs(original, {"blind": blind}).summary.obj_ms["miss"]
    1.0
"""

from app.scoring.detection.case_study import CaseResult, CaseStudy, run_case, score_tree, write_case
from app.scoring.detection.conversion import from_detector, from_yolo
from app.scoring.detection.image_lists import read_image_list
from app.scoring.detection.objects import ObjectTable
from app.scoring.detection.printing import object_tables
from app.scoring.detection.results import DetectionScores, MutantScores, ScoreSettings, Strength
from app.scoring.detection.scores import score_logs
from app.scoring.detection.significance import NoiseFloor
from app.scoring.detection.tree import DetectionTree

__all__ = [
    "CaseResult",
    "CaseStudy",
    "DetectionScores",
    "DetectionTree",
    "MutantScores",
    "NoiseFloor",
    "ObjectTable",
    "ScoreSettings",
    "Strength",
    "from_detector",
    "from_yolo",
    "object_tables",
    "read_image_list",
    "run_case",
    "score_logs",
    "score_tree",
    "write_case",
]
