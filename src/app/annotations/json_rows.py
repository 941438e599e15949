"""Boxes in JSON, an object each: what COCO's annotations, COCO's results and flat lists have in common."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from app.annotations.annotation_set import Indices, Reals, numbered, scores_of
from app.errors import UserError

BoxFormat = Literal["xyxy", "xywh"]
_MEANING = {"xyxy": "[x1, y1, x2, y2]", "xywh": "[x, y, width, height]"}
_LARGEST = 1e9
"""Beyond any coordinate; NaN and infinity are too."""
_SHORT = reprlib.Repr()
_SHORT.maxlevel, _SHORT.maxlist, _SHORT.maxdict = 3, 8, 4
_SHORT.maxstring = _SHORT.maxlong = _SHORT.maxother = 60


@dataclass(frozen=True, eq=False)
class Rows:
    """The columns of a list of D boxes; image and class by what they are called there."""

    image: Indices
    """(D,): positions in `images`."""
    images: tuple[str, ...]
    """What images are called, in the order in which they come."""
    label: Indices
    """(D,): positions in `classes`."""
    classes: tuple[str, ...]
    """What classes are called, in the order in which they come."""
    xyxy: Reals
    """(D, 4): x1, y1, x2, y2."""
    score: Reals | None
    """(D,): None without scores."""
    ignored: NDArray[np.bool_]
    """(D,): crowds."""
    area: Reals | None
    """(D,): stated areas, NaN where there is none; None if there is none."""
    notes: tuple[str, ...]
    """What may surprise."""


def read_rows(
    rows: Sequence[Any], class_key: str, box_format: BoxFormat, where: Callable[[int], str], *, strict: bool
) -> Rows:
    """The columns of a list of boxes.

    Args:
        rows: objects with ``image_id``, the class and ``bbox``.
        class_key: the key of the class.
        box_format: what ``bbox`` is.
        where: what messages call an entry.
        strict: ground truth, without scores and with areas, or detections.

    Raises:
        UserError: a key is missing or holds what it must not.
    """
    for i, row in enumerate(rows):
        if not isinstance(row, dict):
            raise UserError(
                f"{where(i)} must be an object: each needs the keys image_id, {class_key} and bbox"
            )
        if row.get("image_id") is None or row.get(class_key) is None:
            raise UserError(f"{where(i)} needs the keys image_id, {class_key} and bbox")
    images, image = numbered([_called(row, "image_id", where, i) for i, row in enumerate(rows)])
    classes, label = numbered([_called(row, class_key, where, i) for i, row in enumerate(rows)])
    xyxy = _corners(rows, box_format, where, strict=strict)
    score = scores_of(
        [_score(row.get("score"), where, i) for i, row in enumerate(rows)], where, strict=strict
    )
    return Rows(
        image=image,
        images=images,
        label=label,
        classes=classes,
        xyxy=xyxy,
        score=score,
        ignored=np.array(
            [_crowd(row.get("iscrowd"), where, i) for i, row in enumerate(rows)], dtype=np.bool_
        ),
        area=_areas(rows, where) if strict else None,
        notes=_notes(rows, where) if strict else (),
    )


def identity(value: Any) -> str | None:
    """What a number or name of an image or class says: 7, 7.0 and "7" are the same. None for anything else."""
    if type(value) is int:
        return str(value)
    if type(value) is str:
        return value or None
    if type(value) is float and value.is_integer():
        return str(int(value))
    return None


def shown(value: Any) -> str:
    """A value in a message, cut short however long or deep it is."""
    return _SHORT.repr(value)


def _called(row: dict[str, Any], key: str, where: Callable[[int], str], i: int) -> str:
    found = identity(row.get(key))
    if found is not None:
        return found
    raise UserError(f"{where(i)}: {key} must be an integer or a text, not {shown(row[key])}")


def _corners(
    rows: Sequence[dict[str, Any]], box_format: BoxFormat, where: Callable[[int], str], *, strict: bool
) -> Reals:
    given = [row.get("bbox") for row in rows]
    for i, box in enumerate(given):
        if not _four(box):
            raise UserError(f"{where(i)}{_no_box(rows[i], box_format)}")
    stated = np.array(given, dtype=np.float64).reshape(-1, 4)
    corners = stated.copy()
    if box_format == "xywh":
        corners[:, 2:] += corners[:, :2]
    sides = corners[:, 2:] - corners[:, :2]
    bad = ((sides <= 0) if strict else (sides < 0)).any(axis=1)
    if box_format == "xywh":
        bad |= (stated[:, 2:] < 0).any(axis=1)
    if bad.any():
        i = int(np.argmax(bad))
        box = f"bbox {shown(given[i])}"
        raise UserError(f"{where(i)}: {box} {_no_area(stated[i].tolist(), box_format)}")
    return corners


def _four(box: Any) -> bool:
    return (
        isinstance(box, list)
        and len(box) == 4
        and all(type(value) in (int, float) and abs(value) < _LARGEST for value in box)
    )


def _no_box(row: dict[str, Any], box_format: BoxFormat) -> str:
    if row.get("bbox") in (None, []):
        alone = " (a segmentation alone does not do)" if row.get("segmentation") is not None else ""
        return f" has no bbox{alone}; bbox must be four finite numbers {_MEANING[box_format]}"
    return f": bbox must be four finite numbers {_MEANING[box_format]}, not {shown(row['bbox'])}"


def _no_area(box: Sequence[float], box_format: BoxFormat) -> str:
    """What is wrong with a box whose sides are not above (or, of detections, not at least) 0."""
    if box_format == "xywh":
        for side, value in zip(("width", "height"), box[2:], strict=True):
            if value < 0:
                return f"has a negative {side}, so no area; it is [x, y, width, height] from the upper left corner"
        return "has no area; width and height must be above 0"
    hint = "if these are x, y, width, height, say box_format=xywh"
    if box[2] < box[0] or box[3] < box[1]:
        return f"must have x2 >= x1 and y2 >= y1 ({hint})"
    return f"has no area; x2 > x1 and y2 > y1 are needed ({hint})"


def _score(value: Any, where: Callable[[int], str], i: int) -> float | None:
    if value is None:
        return None
    if type(value) in (int, float) and abs(value) < _LARGEST:
        return float(value)
    raise UserError(f"{where(i)}: score must be a finite number, not {shown(value)}")


def _crowd(value: Any, where: Callable[[int], str], i: int) -> bool:
    if value is None:
        return False
    if isinstance(value, int | float) and value in (0, 1):
        return bool(value)
    raise UserError(f"{where(i)}: iscrowd must be 0 or 1, not {shown(value)}")


def _areas(rows: Sequence[dict[str, Any]], where: Callable[[int], str]) -> Reals | None:
    found: list[float] = []
    for i, row in enumerate(rows):
        value = row.get("area")
        if value is None:
            found.append(math.nan)
        elif type(value) in (int, float) and 0 <= value < _LARGEST**2:
            found.append(float(value))
        else:
            raise UserError(f"{where(i)}: area must be a number from 0 on, not {shown(value)}")
    areas = np.array(found, dtype=np.float64)
    return None if np.isnan(areas).all() else areas


def _notes(rows: Sequence[dict[str, Any]], where: Callable[[int], str]) -> tuple[str, ...]:
    notes: list[str] = []
    empty = [i for i, row in enumerate(rows) if row.get("area") == 0]
    if empty:
        notes.append(
            f"{_objects(empty, where)} the area 0, although the box has one: by COCO's rule it is small"
        )
    passed = [i for i, row in enumerate(rows) if row.get("ignore") and not row.get("iscrowd")]
    if passed:
        notes.append(
            f"{_objects(passed, where)} the mark `ignore`, which COCO's evaluation does not read: it counts; "
            "`iscrowd` would set it apart"
        )
    return tuple(notes)


def _objects(places: Sequence[int], where: Callable[[int], str]) -> str:
    more = f" and {len(places) - 1} more have" if len(places) > 1 else " has"
    return f"{where(places[0])}{more}"
