"""Detectors and pictures with boxes: what a user has on disk becomes a `DetectorSubject`.

The readers are `coco.coco`, `yolo.yolo`, `voc.voc` and `scenes.scenes`, the embedded detector is
`scene_detector.scene_detector`: as names of this package they would hide their modules.
"""

from app.subjects.detection.dataset import DetectionDataset, Objects
from app.subjects.detection.detector import Detector, detector_state_dict
from app.subjects.detection.subject import DetectorSubject
from app.subjects.detection.zoo import detector_torchvision

__all__ = [
    "DetectionDataset",
    "Detector",
    "DetectorSubject",
    "Objects",
    "detector_state_dict",
    "detector_torchvision",
]
