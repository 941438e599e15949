"""YOLO: a folder with a text file of boxes for each image."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.annotations.annotation_set import AnnotationSet, StatedImage, refuse_scores, scores_of
from app.annotations.class_names import NAMES_FILE, class_list, find_names, spelling_notes
from app.annotations.content import by_stem, listed, read_text
from app.errors import UserError

_MOST_CLASSES = 100_000
_BEYOND = 2.0
"""Fractions beyond this are no fractions, but pixels."""


@dataclass(frozen=True)
class _Line:
    """One box."""

    image: int
    number: str
    values: tuple[float, ...]
    """x, y, width, height and, of detections, the score."""
    line: int


def read_yolo(
    folder: Path,
    *,
    class_names: Sequence[str] | None = None,
    names_key: str = "class_names",
    strict: bool = True,
) -> AnnotationSet:
    """The boxes of a folder of YOLO text files, named like their images, in fractions of the image.

    Each line is ``class x y width height`` with the centre and sides of the box; detections have their score as
    a sixth number. An empty file is an image without boxes.

    Args:
        folder: the folder; its subfolders are read, too.
        class_names: what the numbers mean; None takes ``classes.txt`` or the ``names`` of ``data.yaml`` in the
            folder or up to two levels above it, or leaves them numbers.
        names_key: what messages call `class_names`.
        strict: ground truth, or detections.

    Raises:
        UserError: a line that is none of these, or an unknown class.
    """
    found = listed(folder, {".txt"})
    texts = by_stem([file for file in found.files if file.rpartition("/")[2] != NAMES_FILE], folder)
    notes = list(found.notes)
    names_in = names_key
    if class_names is None:
        file = find_names(folder)
        if file is not None:
            class_names, names_in = file.names, str(file.path)
            if file.path != folder / NAMES_FILE:
                notes.append(f"the names of classes are those of {file.path}")
    known = None if class_names is None else {str(i): name for i, name in enumerate(class_names)}
    files = list(texts.values())
    lines: list[_Line] = []
    for image, file_name in enumerate(files):
        lines += _lines(
            folder / file_name, image, _MOST_CLASSES if known is None else len(known), strict=strict
        )

    def where(i: int) -> str:
        return f"{folder / files[lines[i].image]} line {lines[i].line}"

    used = dict.fromkeys(each.number for each in lines)
    classes = class_list({number: number for number in used} if known is None else known, used, names_in)
    score = scores_of(
        [each.values[4] if len(each.values) > 4 else None for each in lines], where, strict=strict
    )
    return AnnotationSet(
        source=folder,
        form="YOLO text",
        images=tuple(StatedImage(stem, str(folder / file)) for stem, file in texts.items()),
        class_names=classes.names,
        image=np.array([each.image for each in lines], dtype=np.int64),
        label=np.array([classes.position[each.number] for each in lines], dtype=np.int64),
        xyxy=_corners(lines),
        where=where,
        score=score,
        relative=True,
        named=known is not None,
        class_by_id=known is None,
        class_ids=classes.position,
        notes=(*notes, *classes.notes, *spelling_notes(classes.names, folder)),
    )


def _lines(file: Path, image: int, classes: int, *, strict: bool) -> list[_Line]:
    found: list[_Line] = []
    for number, line in enumerate(read_text(file).splitlines(), start=1):
        fields = line.split()
        if not fields:
            continue
        where = f"{file} line {number}"
        if len(fields) == 6 and strict:
            raise refuse_scores(where)
        if len(fields) not in (5, 6):
            score = "" if strict else ", and a score,"
            raise UserError(
                f"{where} has {len(fields)} values; class, x, y, width and height{score} are allowed, "
                f"{'outlines and scores' if strict else 'outlines'} are not (nor oriented boxes)"
            )
        try:
            label, *values = map(float, fields)
        except ValueError:
            raise UserError(
                f"{where} must be an integer and {('four', 'five')[len(fields) - 5]} numbers, not {line.strip()[:80]!r}"
            ) from None
        if not all(map(math.isfinite, values)):
            raise UserError(f"{where}: box {' '.join(fields[1:])} is not finite")
        if not (label.is_integer() and 0 <= label < classes):
            raise UserError(
                f"{where} has the class {fields[0]}, which is unknown; 0..{classes - 1} are allowed"
            )
        x, y, width, height = values[:4]
        if max(abs(x), abs(y), width, height) > _BEYOND:
            raise UserError(f"{where}: box {' '.join(fields[1:5])} must be in fractions of the image, 0 to 1")
        if min(width, height) < 0:
            raise UserError(f"{where}: box {' '.join(fields[1:5])} has a negative side, so no area")
        # Sides so small that the corners are equal have no area either.
        if strict and not (x + width / 2 > x - width / 2 and y + height / 2 > y - height / 2):
            raise UserError(
                f"{where}: box {' '.join(fields[1:5])} has no area; width and height must be above 0"
            )
        found.append(_Line(image, str(int(label)), tuple(values), number))
    return found


def _corners(lines: Sequence[_Line]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    boxes = np.array([each.values[:4] for each in lines], dtype=np.float64).reshape(-1, 4)
    return np.hstack([boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2])
