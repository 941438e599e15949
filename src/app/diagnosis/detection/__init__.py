"""What is wrong with a detector: average precision, kinds of errors, calibration, from boxes alone.

`files.read` turns files into an `EvaluationSet`; `evaluate` says what they show.
"""

from app.diagnosis.detection.boxes import Boxes, EvaluationSet
from app.diagnosis.detection.coco import CocoScores, coco_scores
from app.diagnosis.detection.evaluation import DetectionEvaluation, evaluate

__all__ = ["Boxes", "CocoScores", "DetectionEvaluation", "EvaluationSet", "coco_scores", "evaluate"]
