"""COCO's ground truth: one JSON file with images, annotations and categories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from app.annotations.annotation_set import AnnotationSet, Size, StatedImage
from app.annotations.class_names import ClassList, class_list, spelling_notes
from app.annotations.content import read_json
from app.annotations.json_rows import Rows, identity, read_rows, shown
from app.errors import UserError

KEYS = ("images", "annotations", "categories")
_LARGEST = 1e9
"""Beyond the sides of any image."""


def read_coco(path: Path, *, strict: bool = True) -> AnnotationSet:
    """The boxes of a COCO file of instances: [x, y, width, height] in pixels.

    Classes are the categories by rising id, images are in the file's order. Crowds (``iscrowd``) are ignored
    objects; ``area`` decides what is small and large.

    Args:
        path: the JSON file.
        strict: ground truth, or detections in this form.

    Raises:
        UserError: an unreadable or malformed file, a box that is none, or an unknown image or category.
    """
    content = read_json(path)
    if not isinstance(content, dict):
        raise UserError(f"{path} must hold a JSON object with images, annotations and categories")
    return coco_of(path, content, strict=strict)


def coco_of(path: Path, content: Mapping[str, Any], *, strict: bool) -> AnnotationSet:
    """What `read_coco` gives, of the file's content."""
    missing = [key for key in KEYS if not isinstance(content.get(key), list)]
    if missing:
        raise UserError(
            f"{path} has no list {missing[0]!r}: a COCO file of instances has images, annotations and categories"
        )
    for what in ("image", "category"):
        if not content["images" if what == "image" else "categories"]:
            raise UserError(f"{path} lists no {what}")
    annotations = content["annotations"]

    def where(i: int) -> str:
        entry = annotations[i]
        number = f" (id {shown(entry['id'])})" if isinstance(entry, dict) and "id" in entry else ""
        return f"{path} annotations[{i}]{number}"

    rows = read_rows(annotations, "category_id", "xywh", where, strict=strict)
    images, image_ids = _images(content["images"], path)
    classes = _classes(content["categories"], rows, path)
    for i, name in _first_unknown(rows.image, rows.images, image_ids):
        raise UserError(f"{where(i)}: image_id {name} is none of the images")
    for i, name in _first_unknown(rows.label, rows.classes, classes.position):
        raise UserError(f"{where(i)}: category_id {name} is an unknown class, none of the categories")
    return AnnotationSet(
        source=path,
        form="COCO ground truth",
        images=images,
        class_names=classes.names,
        image=_places(rows.images, image_ids)[rows.image],
        label=_places(rows.classes, classes.position)[rows.label],
        xyxy=rows.xyxy,
        where=where,
        score=rows.score,
        ignored=rows.ignored if rows.ignored.any() else None,
        area=rows.area,
        closed=True,
        image_ids=image_ids,
        class_ids=classes.position,
        notes=(
            *rows.notes,
            *_twice(annotations, path),
            *classes.notes,
            *spelling_notes(classes.names, path),
        ),
    )


def _images(entries: Sequence[Any], path: Path) -> tuple[tuple[StatedImage, ...], dict[str, int]]:
    """The images, and the position of each number."""
    images: list[StatedImage] = []
    numbers: dict[str, int] = {}
    names: dict[str, str] = {}
    for i, entry in enumerate(entries):
        where = f"{path} images[{i}]"
        number = _identity(entry, where)
        if number in numbers:
            raise UserError(f"{where}: id {number} is there twice, in images[{numbers[number]}], too")
        numbers[number] = i
        file = entry.get("file_name")
        if file is not None and (not isinstance(file, str) or not file):
            raise UserError(f"{where}: file_name must be a text, not {shown(file)}")
        name = file or number
        if name in names:
            raise UserError(f"{where}: file_name {name!r} was already named by {names[name]}")
        names[name] = where
        images.append(StatedImage(name, where, file, _size(entry, where)))
    return tuple(images), numbers


def _size(entry: Mapping[str, Any], where: str) -> Size | None:
    """Width and height; None where one is not stated, or 0."""
    sides = []
    for key in ("width", "height"):
        value = entry.get(key)
        if value is None:
            value = 0
        elif type(value) not in (int, float) or not (0 <= value < _LARGEST and value == int(value)):
            raise UserError(f"{where}: {key} must be an integer, not {shown(value)}")
        sides.append(int(value))
    return (sides[0], sides[1]) if all(sides) else None


def _classes(entries: Sequence[Any], rows: Rows, path: Path) -> ClassList:
    """The classes by rising id; those with text for an id come last."""
    names: dict[str, str] = {}
    for i, entry in enumerate(entries):
        where = f"{path} categories[{i}]"
        number, name = _identity(entry, where), entry.get("name")
        if number in names:
            raise UserError(f"{where}: id {number} is there twice")
        if not isinstance(name, str) or not name:
            raise UserError(f"{where}: name must be a text, not {shown(name)}")
        names[number] = name
    order = sorted(names, key=_rank)
    return class_list({number: names[number] for number in order}, set(rows.classes), f"{path} categories")


def _rank(number: str) -> tuple[int, int]:
    try:
        return 0, int(number)
    except ValueError:
        return 1, 0


def _identity(entry: Any, where: str) -> str:
    if not isinstance(entry, dict):
        raise UserError(f"{where} must be an object with 'id', not {shown(entry)}")
    number = identity(entry.get("id"))
    if number is None:
        raise UserError(f"{where}: id must be an integer or a text, not {shown(entry.get('id'))}")
    return number


def _first_unknown(
    place: np.ndarray[Any, np.dtype[np.int64]], names: Sequence[str], known: Mapping[str, int]
) -> list[tuple[int, str]]:
    """The first entry whose name is not known, and the name; empty if all are."""
    strange = np.array([name not in known for name in names], dtype=np.bool_)
    found = np.flatnonzero(strange[place]) if len(names) else np.zeros(0, dtype=np.int64)
    return [(int(found[0]), names[int(place[found[0]])])] if found.size else []


def _places(names: Sequence[str], known: Mapping[str, int]) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array([known[name] for name in names], dtype=np.int64)


def _twice(annotations: Sequence[Mapping[str, Any]], path: Path) -> tuple[str, ...]:
    counts = Counter(identity(each.get("id")) for each in annotations)
    twice = [number for number, count in counts.items() if number is not None and count > 1]
    if not twice:
        return ()
    return (
        f"{path}: {len(twice)} ids of annotations are there more than once, such as {twice[0]}; "
        "every annotation counts here, while COCO's own tools keep one of each id",
    )
