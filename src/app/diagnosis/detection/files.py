"""Evaluation sets from files: flat JSON, COCO JSON, YOLO text and Pascal VOC, recognised by content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from app.diagnosis.detection.boxes import EvaluationSet
from app.diagnosis.detection.json_boxes import read_json
from app.diagnosis.detection.raw import RawBoxes, join
from app.diagnosis.detection.text_boxes import (
    NAMES_FILE,
    looks_like_voc_results,
    read_voc_results,
    read_yolo,
)
from app.diagnosis.detection.voc import read_voc
from app.errors import UserError


def read(
    ground_truth: Path,
    detections: Path,
    *,
    box_format: str = "xyxy",
    class_names: Sequence[str] | None = None,
    image_sizes: Mapping[str, tuple[float, float]] | None = None,
) -> EvaluationSet:
    """The evaluation set of a ground truth and detections; both may be of any of the forms.

    Args:
        ground_truth: a JSON file, or a folder of YOLO text files or VOC XML files.
        detections: the same, or VOC results: a folder of ``*_det_*_<class>.txt``.
        box_format: of flat JSON: ``xyxy`` or ``xywh``.
        class_names: of YOLO's class numbers.
        image_sizes: width and height by image name, to have YOLO's boxes in pixels.

    Raises:
        UserError: if a file is not there, is none of these, or both do not belong together.
    """
    truth, found = (
        read_boxes(path, box_format=box_format, class_names=class_names, image_sizes=image_sizes)
        for path in (ground_truth, detections)
    )
    return join(truth, found)


def read_boxes(
    path: Path,
    *,
    box_format: str = "xyxy",
    class_names: Sequence[str] | None = None,
    image_sizes: Mapping[str, tuple[float, float]] | None = None,
) -> RawBoxes:
    """Boxes of a file or folder, whichever of the forms it has; arguments and errors as in `read`."""
    if path.is_file():
        return read_json(path, box_format)
    if not path.is_dir():
        raise UserError(f"{path}: no such file or folder of boxes")
    if any(path.glob("*.xml")):
        return read_voc(path)
    texts = [each for each in sorted(path.glob("*.txt")) if each.name != NAMES_FILE]
    if not texts:
        raise UserError(
            f"{path}: no boxes in this folder; .txt (YOLO, VOC results) or .xml (VOC) files are allowed"
        )
    if all(looks_like_voc_results(each) for each in texts):
        return read_voc_results(texts)
    return read_yolo(path, class_names, image_sizes)
