"""Boxes of a file or folder, whichever of the forms it has: told by content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from app.annotations.annotation_set import AnnotationSet
from app.annotations.class_names import NAMES_FILE
from app.annotations.content import listed
from app.annotations.flat import read_json_boxes
from app.annotations.json_rows import BoxFormat
from app.annotations.voc import looks_like_results, read_voc, read_voc_results
from app.annotations.yolo import read_yolo
from app.errors import UserError

ENDINGS = (".xml", ".txt")


def read_annotations(
    path: Path,
    *,
    strict: bool,
    box_format: BoxFormat = "xyxy",
    class_names: Sequence[str] | None = None,
    first_pixel: int = 1,
) -> AnnotationSet:
    """The boxes of a JSON file, or of a folder of YOLO text files, VOC XML files or VOC results.

    Args:
        path: the file or folder.
        strict: ground truth, or detections.
        box_format: of flat JSON.
        class_names: of YOLO's class numbers.
        first_pixel: of VOC's files: what the first pixel is called.

    Raises:
        UserError: it is not there, is none of these, or is malformed.
    """
    if path.is_file():
        return read_json_boxes(path, box_format, strict=strict)
    if not path.is_dir():
        raise UserError(f"{path}: no such file or folder of boxes")
    found = listed(path, ENDINGS).files
    files = [file for file in found if file.rpartition("/")[2] != NAMES_FILE]
    if not files:
        raise UserError(
            f"{path}: no boxes in this folder; .txt (YOLO, VOC results) or .xml (VOC) files are allowed"
        )
    # Files of the folder itself say what it is; XML says more than text, which lists of images are, too.
    ending = min((file.count("/"), ENDINGS.index(Path(file).suffix.lower())) for file in files)[1]
    others = sum(Path(file).suffix.lower() != ENDINGS[ending] for file in files)
    texts = [path / file for file in files if file.lower().endswith(".txt")]
    if ENDINGS[ending] == ".xml":
        stated = read_voc(path, first_pixel=first_pixel, strict=strict)
    elif all(looks_like_results(each) for each in texts):
        stated = read_voc_results(texts, first_pixel=first_pixel, strict=strict)
    else:
        stated = read_yolo(path, class_names=class_names, names_key="task.class_names", strict=strict)
    if not others:
        return stated
    note = f"{path} also holds {others} {ENDINGS[1 - ending]} file{'s' * (others != 1)}: not read"
    return replace(stated, notes=(*stated.notes, note))
