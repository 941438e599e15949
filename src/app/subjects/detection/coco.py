"""COCO: one JSON file with the objects of all pictures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.errors import UserError
from app.images import USUAL, Decoding
from app.limits import File, Folder, NotNegative, Positive
from app.subjects.detection.annotations import (
    AnnotatedPicture,
    Annotation,
    collect,
    folder,
    inside,
    read_text,
)
from app.subjects.detection.dataset import DetectionDataset
from app.subjects.files import Progress

_LARGEST = 1e9
"""Beyond any coordinate; NaN and infinity are too."""


def coco(
    annotations: File | Path,
    images: Folder | Path,
    *,
    max_samples: Positive | None = None,
    seed: NotNegative = 0,
    name: str | None = None,
    workers: Positive | None = None,
    progress: Progress | None = None,
    decoding: Decoding = USUAL,
) -> DetectionDataset:
    """The data set in a COCO file of instances: boxes [x, y, width, height] in pixels.

    Classes are the categories by rising id, labels 0, 1, … in that order. Crowds (``iscrowd``) are ignored
    objects. Pictures are in the file's order.

    Args:
        annotations: the JSON file.
        images: the folder of pictures that ``file_name`` is relative to.
        max_samples: keep so many pictures.
        seed: of the draw.
        name: None takes the file's name.
        workers: threads that decode; None takes one a core, at most 8.
        progress: is told how many files are done.
        decoding: what the formats of files leave open: which sample is white, what transparency is laid on.

    Raises:
        UserError: an unreadable or malformed file, a missing picture, a box without area or outside its
            picture, an unknown category or picture, or a picture outside the folder.
    """
    file = Path(annotations).expanduser()
    top = folder(images, "images")
    content = _read(file)
    class_names, label_of = _categories(content, file)
    pictures = _pictures(content, file, label_of, top)
    return collect(
        pictures,
        name or file.stem.replace("@", "_"),
        class_names,
        max_samples=max_samples,
        seed=seed,
        workers=workers,
        progress=progress,
        decoding=decoding,
    )


def _read(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(read_text(file))
    except json.JSONDecodeError as error:
        raise UserError(
            f"{file} line {error.lineno} column {error.colno}: no valid JSON ({error.msg})"
        ) from None
    except (RecursionError, ValueError) as error:
        raise UserError(f"{file}: no valid JSON ({error})") from None
    if not isinstance(content, dict):
        raise UserError(f"{file} must hold a JSON object with images, annotations and categories")
    for key in ("images", "annotations", "categories"):
        if not isinstance(content.get(key), list):
            raise UserError(
                f"{file} has no list {key!r}: a COCO file of instances has images, annotations and categories"
            )
    if not content["images"]:
        raise UserError(f"{file} lists no image")
    return content


def _categories(content: dict[str, Any], file: Path) -> tuple[tuple[str, ...], dict[int, int]]:
    """Class names by rising id, and the label of each id."""
    names: dict[int, str] = {}
    for i, category in enumerate(content["categories"]):
        where = f"{file} categories[{i}]"
        number, title = _integer(category, "id", where), _text(category, "name", where)
        if number in names or title in names.values():
            raise UserError(f"{where}: id {number} or name {title!r} is there twice")
        names[number] = title
    if not names:
        raise UserError(f"{file} lists no category")
    numbers = sorted(names)
    return tuple(names[number] for number in numbers), {number: i for i, number in enumerate(numbers)}


def _pictures(
    content: dict[str, Any], file: Path, label_of: dict[int, int], top: Path
) -> list[AnnotatedPicture]:
    found: dict[int, list[Annotation]] = {}
    for i, image in enumerate(content["images"]):
        number = _integer(image, "id", f"{file} images[{i}]")
        if number in found:
            raise UserError(f"{file} images[{i}]: id {number} is there twice")
        found[number] = []
    for i, annotation in enumerate(content["annotations"]):
        where = f"{file} annotations[{i}]"
        if isinstance(annotation, dict) and "id" in annotation:
            where += f" (id {annotation['id']})"
        image, category = _integer(annotation, "image_id", where), _integer(annotation, "category_id", where)
        if image not in found:
            raise UserError(f"{where}: image_id {image} is none of the images")
        if category not in label_of:
            raise UserError(f"{where}: category_id {category} is an unknown class, none of the categories")
        crowd = annotation.get("iscrowd", 0)
        if crowd not in (0, 1):
            raise UserError(f"{where}: iscrowd must be 0 or 1, not {crowd!r}")
        x, y, width, height = _bbox(annotation, where)
        box = (x, y, x + width, y + height)
        found[image].append(Annotation(box, label_of[category], where, ignored=bool(crowd)))
    pictures: list[AnnotatedPicture] = []
    for i, image in enumerate(content["images"]):
        where = f"{file} images[{i}]"
        path = inside(top, _text(image, "file_name", where), where)
        size = None
        if image.get("width") is not None and image.get("height") is not None:
            size = _integer(image, "width", where), _integer(image, "height", where)
        shown = path.relative_to(top).as_posix()
        pictures.append(AnnotatedPicture(path, shown, where, tuple(found[image["id"]]), size))
    return pictures


def _bbox(annotation: dict[str, Any], where: str) -> tuple[float, float, float, float]:
    given = annotation.get("bbox")
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != 4:
        raise UserError(f"{where}: bbox must be [x, y, width, height], not {given!r}")
    for value in given:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not abs(value) < _LARGEST:
            raise UserError(f"{where}: bbox must hold four finite numbers, not {given!r:.80}")
    x, y, width, height = map(float, given)
    if width <= 0 or height <= 0:
        raise UserError(f"{where}: bbox {given!r} has no area; width and height must be above 0")
    return x, y, width, height


def _integer(entry: Any, key: str, where: str) -> int:
    if not isinstance(entry, dict):
        raise UserError(f"{where} must be an object with {key!r}, not {entry!r:.60}")
    value = entry.get(key)
    if isinstance(value, bool) or not isinstance(value, int):
        raise UserError(f"{where}: {key} must be an integer, not {value!r:.60}")
    return value


def _text(entry: Any, key: str, where: str) -> str:
    if not isinstance(entry, dict):
        raise UserError(f"{where} must be an object with {key!r}, not {entry!r:.60}")
    value = entry.get(key)
    if not isinstance(value, str) or not value:
        raise UserError(f"{where}: {key} must be a text, not {value!r:.60}")
    return value
