"""Boxes in a JSON list: flat lists with names of classes, and COCO's results with their numbers."""

from __future__ import annotations

from pathlib import Path

from app.annotations.annotation_set import AnnotationSet, StatedImage
from app.annotations.class_names import spelling_notes
from app.annotations.coco import coco_of
from app.annotations.content import read_json
from app.annotations.json_rows import BoxFormat, read_rows
from app.errors import UserError

BOX_FORMATS: tuple[BoxFormat, ...] = ("xyxy", "xywh")


def read_json_boxes(path: Path, box_format: BoxFormat = "xyxy", *, strict: bool = True) -> AnnotationSet:
    """Boxes of a JSON file, whichever of the forms it has.

    Args:
        path: a flat list of ``{"image_id", "class_name", "bbox", "score"}`` (the score only of detections), a
            COCO ground truth (an object with ``images``, ``annotations`` and ``categories``), or COCO results
            (a list with ``category_id``).
        box_format: what ``bbox`` is in a flat list: ``xyxy`` (two corners) or ``xywh`` (a corner and the
            sides). COCO's are always ``xywh``.
        strict: ground truth, or detections.

    Raises:
        UserError: if the file cannot be read or is none of these.
    """
    if box_format not in BOX_FORMATS:
        raise UserError(f"box_format must be one of {', '.join(BOX_FORMATS)}, not {box_format!r}")
    content = read_json(path)
    if isinstance(content, dict):
        return coco_of(path, content, strict=strict)
    if not isinstance(content, list):
        raise UserError(f"{path}: a list of boxes or a COCO object is allowed, not {type(content).__name__}")
    results = bool(content) and isinstance(content[0], dict) and "category_id" in content[0]
    if results:
        box_format = "xywh"

    def where(i: int) -> str:
        return f"{path} entry {i}"

    rows = read_rows(content, "category_id" if results else "class_name", box_format, where, strict=strict)
    return AnnotationSet(
        source=path,
        form="COCO results" if results else f"flat JSON ({box_format})",
        images=tuple(StatedImage(name, str(path)) for name in rows.images),
        class_names=rows.classes,
        image=rows.image,
        label=rows.label,
        xyxy=rows.xyxy,
        where=where,
        score=rows.score,
        ignored=rows.ignored if rows.ignored.any() else None,
        area=rows.area,
        by_id=results,
        class_by_id=results,
        notes=(*rows.notes, *spelling_notes(rows.classes, path)),
    )
