"""What files state about boxes in images: one reader a format, for true boxes and for detections.

Each reader gives an `AnnotationSet` and takes ``strict``. Ground truth is read strictly: no scores, and every
box has an area; `placed` then refuses boxes outside their image. Detections are read leniently: they have
scores, and a box may be empty or reach over the edge, since detectors do that. No images are opened here.
"""

from app.annotations.annotation_set import AnnotationSet, StatedImage
from app.annotations.coco import read_coco
from app.annotations.forms import read_annotations
from app.annotations.placement import placed
from app.annotations.voc import read_voc
from app.annotations.yolo import read_yolo

__all__ = [
    "AnnotationSet",
    "StatedImage",
    "placed",
    "read_annotations",
    "read_coco",
    "read_voc",
    "read_yolo",
]
