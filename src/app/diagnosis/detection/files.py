"""Evaluation sets from files: ground truth and detections, read by `app.annotations`, brought together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from app.annotations import AnnotationSet, placed, read_annotations
from app.annotations.annotation_set import StatedImage
from app.annotations.json_rows import BoxFormat
from app.annotations.placement import agreed_size
from app.diagnosis.detection.boxes import EvaluationSet
from app.diagnosis.detection.pairing import join
from app.errors import UserError

Sizes = Mapping[str, tuple[float, float]]


def read(
    ground_truth: Path,
    detections: Path,
    *,
    box_format: BoxFormat = "xyxy",
    class_names: Sequence[str] | None = None,
    first_pixel: int = 1,
    image_sizes: Sizes | None = None,
) -> EvaluationSet:
    """The evaluation set of a ground truth and detections; both may be of any of the forms.

    Args:
        ground_truth: a JSON file, or a folder of YOLO text files or VOC XML files.
        detections: the same, or VOC results: a folder of ``*_det_*_<class>.txt``.
        box_format: of flat JSON: ``xyxy`` or ``xywh``.
        class_names: of YOLO's class numbers.
        first_pixel: of VOC's files: what the first pixel is called, 1 or 0.
        image_sizes: width and height by image name, to have YOLO's boxes in pixels, and to see that true boxes
            lie in their images where the files do not state their sizes.

    Raises:
        UserError: if a file is not there, is none of these, or both do not belong together.
    """
    truth, found = (
        read_boxes(
            path,
            strict=strict,
            box_format=box_format,
            class_names=class_names,
            first_pixel=first_pixel,
            image_sizes=image_sizes,
        )
        for path, strict in ((ground_truth, True), (detections, False))
    )
    data = join(truth, found)
    counted = [stated.source for stated in (truth, found) if stated.form.startswith("Pascal VOC")]
    if not counted:
        return data
    which = " and ".join(map(str, counted))
    note = f"{which}: pixels of Pascal VOC's boxes are counted from {first_pixel} (first_pixel)"
    return replace(data, notes=(*data.notes, note))


def read_boxes(
    path: Path,
    *,
    strict: bool,
    box_format: BoxFormat = "xyxy",
    class_names: Sequence[str] | None = None,
    first_pixel: int = 1,
    image_sizes: Sizes | None = None,
) -> AnnotationSet:
    """Boxes of a file or folder, ground truth if `strict`; other arguments and errors as in `read`."""
    stated = read_annotations(
        path, strict=strict, box_format=box_format, class_names=class_names, first_pixel=first_pixel
    )
    if not strict and not stated.relative:
        return stated
    sizes = [_size(image, image_sizes, needed=stated.relative) for image in stated.images]
    return placed(stated, sizes, strict=strict)


def _size(image: StatedImage, sizes: Sizes | None, *, needed: bool) -> tuple[float, float] | None:
    """Width and height: the real ones if they are known, else those that are stated."""
    name = next((each for each in (image.name, image.file) if sizes and each in sizes), None)
    if sizes is None or name is None:
        return image.size
    try:
        width, height = sizes[name]
    except UserError:
        if needed:
            raise
        return image.size  # The picture is damaged, but its boxes are known.
    return agreed_size(image, (int(width), int(height)))
