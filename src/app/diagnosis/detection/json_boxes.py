"""Boxes in JSON: flat lists of boxes, and COCO's ground truth and results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from app.diagnosis.detection.raw import RawBoxes
from app.errors import UserError

BOX_FORMATS = ("xyxy", "xywh")


def read_json(path: Path, box_format: str = "xyxy") -> RawBoxes:
    """Boxes of a JSON file, whichever of the forms it has.

    Args:
        path: a flat list of ``{"image_id", "class_name", "bbox", "score"}`` (the score only of detections), a
            COCO ground truth (an object with ``images``, ``annotations`` and ``categories``), or COCO results
            (a list with ``category_id``).
        box_format: what ``bbox`` is in a flat list: ``xyxy`` (two corners) or ``xywh`` (a corner and the
            sides). COCO's are always ``xywh``.

    Raises:
        UserError: if the file cannot be read or is none of these.
    """
    if box_format not in BOX_FORMATS:
        raise UserError(f"box_format must be one of {', '.join(BOX_FORMATS)}, not {box_format!r}")
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{path}: not a readable JSON file: {error}") from error
    if isinstance(content, dict):
        return _coco(path, content)
    if not isinstance(content, list):
        raise UserError(f"{path}: a list of boxes or a COCO object is allowed, not {type(content).__name__}")
    if content and isinstance(content[0], dict) and "category_id" in content[0]:
        return _rows(path, content, "category_id", "xywh")
    return _rows(path, content, "class_name", box_format)


def _rows(path: Path, rows: Sequence[Any], class_key: str, box_format: str) -> RawBoxes:
    """Boxes of a flat list."""
    try:
        image = [str(row["image_id"]) for row in rows]
        label = [str(row[class_key]) for row in rows]
        boxes = [row["bbox"] for row in rows]
    except (KeyError, TypeError) as error:
        keys = {"image_id", class_key, "bbox"}
        place = next(i for i, row in enumerate(rows) if not (isinstance(row, dict) and keys <= set(row)))
        raise UserError(f"{path}: entry {place} needs the keys image_id, {class_key} and bbox") from error
    scored = [i for i, row in enumerate(rows) if "score" in row]
    if scored and len(scored) < len(rows):
        place = next(i for i, row in enumerate(rows) if "score" not in row)
        raise UserError(f"{path}: entry {place} has no score and others have one; all or none is allowed")
    try:
        score = [float(row["score"]) for row in rows] if scored or not rows else None
    except (TypeError, ValueError) as error:
        raise UserError(f"{path}: scores must be numbers: {error}") from error
    crowd = [bool(row.get("iscrowd", 0)) for row in rows]
    by_id = class_key == "category_id"
    return RawBoxes(
        source=path,
        image=image,
        label=label,
        xyxy=corners(path, boxes, box_format),
        score=score,
        crowd=crowd,
        image_by_id=by_id,
        class_by_id=by_id,
        form="COCO results" if by_id else f"flat JSON ({box_format})",
    )


def _coco(path: Path, content: Mapping[str, Any]) -> RawBoxes:
    missing = [
        key for key in ("images", "annotations", "categories") if not isinstance(content.get(key), list)
    ]
    if missing:
        raise UserError(f"{path}: a COCO ground truth needs the lists images, annotations and categories; "
                        f"{', '.join(missing)} is missing")  # fmt: skip
    try:
        files = {str(row["id"]): str(row.get("file_name") or row["id"]) for row in content["images"]}
        names = {str(row["id"]): str(row.get("name") or row["id"]) for row in content["categories"]}
    except (KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path}: each image and category of a COCO ground truth needs an id") from error
    rows = _rows(path, content["annotations"], "category_id", "xywh")
    for what, used, known in (("image", rows.image, files), ("category", rows.label, names)):
        if strange := [name for name in dict.fromkeys(used) if name not in known]:
            raise UserError(f"{path}: an annotation has {what} id {strange[0]}, which is not listed")
    for what, listed in (("file_name", files), ("category name", names)):
        if len(set(listed.values())) < len(listed):
            raise UserError(f"{path}: a {what} is there more than once; they must differ")
    return RawBoxes(
        source=path,
        image=[files[name] for name in rows.image],
        label=[names[name] for name in rows.label],
        xyxy=rows.xyxy,
        score=rows.score if len(rows.image) else None,
        crowd=rows.crowd,
        images=tuple(files.values()),
        class_names=tuple(names.values()),
        image_aliases={Path(name).stem: name for name in files.values()} | files,
        class_aliases=names,
        closed=True,
        form="COCO ground truth",
    )


def corners(path: Path, boxes: Sequence[Any], box_format: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """(D, 4): x1, y1, x2, y2 of boxes in a format; an error names the first bad one."""
    try:
        array = np.asarray(boxes, dtype=np.float64) if len(boxes) else np.zeros((0, 4))
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.shape != (len(boxes), 4):
        place = next((i for i, box in enumerate(boxes) if not _four(box)), 0)
        raise UserError(f"{path}: bbox of entry {place} must be four numbers, not {boxes[place]!r}")
    if box_format == "xywh":
        array = np.hstack([array[:, :2], array[:, :2] + array[:, 2:]])
    bad = ~np.isfinite(array).all(axis=1) | (array[:, 2:] < array[:, :2]).any(axis=1)
    if bad.any():
        place = int(np.argmax(bad))
        hint = " (if these are x, y, width, height, say box_format=xywh)" if box_format == "xyxy" else ""
        raise UserError(
            f"{path}: bbox of entry {place} is {boxes[place]!r}: finite numbers with x2 >= x1 and y2 >= y1 are "
            f"allowed{hint}"
        )
    return array


def _four(box: Any) -> bool:
    return (
        isinstance(box, (list, tuple))
        and len(box) == 4
        and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in box)
    )
