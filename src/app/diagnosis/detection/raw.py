"""What a file of boxes says, before the names of both files are brought together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from app.diagnosis.detection.boxes import Boxes, EvaluationSet
from app.errors import UserError

SHOWN = 3
"""So many names are shown in a message."""


@dataclass(frozen=True)
class RawBoxes:
    """Boxes of one file or folder, with images and classes by name."""

    source: Path
    """Where they come from."""
    image: Sequence[str]
    """(D,): image of each box."""
    label: Sequence[str]
    """(D,): class of each box."""
    xyxy: np.ndarray[Any, np.dtype[np.float64]]
    """(D, 4): x1, y1, x2, y2."""
    score: Sequence[float] | None = None
    """(D,): confidence of each; None in a ground truth."""
    crowd: Sequence[bool] | None = None
    """(D,): boxes around crowds; None if there is none."""
    images: Sequence[str] = ()
    """Images that the source lists, with boxes or without."""
    class_names: Sequence[str] = ()
    """Classes that the source lists."""
    image_aliases: Mapping[str, str] = field(default_factory=dict)
    """Other names of listed images, such as the number or the file name."""
    class_aliases: Mapping[str, str] = field(default_factory=dict)
    """Other names of listed classes, such as the number."""
    image_by_id: bool = False
    """Whether images are named by what are aliases in the ground truth, such as COCO's numbers."""
    class_by_id: bool = False
    """The same for classes: number 1 may be the class with the name 0."""
    closed: bool = False
    """Whether images and classes that are not listed are a mistake."""
    pixels: bool = True
    """Whether boxes are in pixels; else in fractions of the image."""
    form: str = ""
    """Which form they were read from, in words."""


def join(truth: RawBoxes, found: RawBoxes) -> EvaluationSet:
    """The evaluation set of a ground truth and detections.

    Args:
        truth: what is there. If it lists all its images and classes, the detections may name no others.
        found: what was found, with scores.

    Raises:
        UserError: if the detections have no scores, other units, or images or classes that cannot be.
    """
    if found.score is None:
        raise UserError(f"{found.source}: these boxes have no scores; detections need one each")
    if truth.pixels != found.pixels and len(truth.image) and len(found.image):
        raise UserError(
            f"{truth.source} and {found.source} measure boxes in different units (pixels and fractions of the "
            "image); give both in the same, or image sizes for the fractions"
        )
    images, image_of = _numbered([*truth.images, *truth.image])
    names, label_of = _numbered([*truth.class_names, *truth.label])
    image_at, no_images = _found_numbers(image_of, truth.image_aliases, found.image, found.image_by_id)
    label_at, no_names = _found_numbers(label_of, truth.class_aliases, found.label, found.class_by_id)
    images, image_at = _with_new(images, image_at, [*found.images, *no_images])
    names, label_at = _with_new(names, label_at, [*found.class_names, *no_names])
    notes = []
    for what, strange in (("images", no_images), ("classes", no_names)):
        if not strange:
            continue
        shown = ", ".join(map(repr, strange[:SHOWN])) + (" and others" if len(strange) > SHOWN else "")
        sentence = f"{len(strange)} {what} of {found.source} are not in {truth.source}: {shown}"
        if truth.closed:
            raise UserError(f"{sentence}; it lists all {what}, and only those are allowed")
        notes.append(f"{sentence}; they are taken to hold nothing")
    return EvaluationSet(
        images=images,
        class_names=names,
        truth=_boxes(truth, image_of, label_of),
        found=_boxes(found, image_at, label_at),
        pixels=truth.pixels if len(truth.image) else found.pixels,
        notes=tuple(notes),
        forms=(truth.form, found.form),
    )


def _numbered(names: Sequence[str]) -> tuple[tuple[str, ...], dict[str, int]]:
    """The different names in the order in which they come, and the place of each."""
    different = tuple(dict.fromkeys(names))
    return different, {name: place for place, name in enumerate(different)}


def _found_numbers(
    number_of: Mapping[str, int], aliases: Mapping[str, str], used: Sequence[str], by_id: bool
) -> tuple[dict[str, int], list[str]]:
    """The place of each name that the detections may use, and the names they use that have none."""
    by_alias = {alias: number_of[name] for alias, name in aliases.items() if name in number_of}
    number = dict(number_of) | by_alias if by_id else by_alias | dict(number_of)
    return number, [name for name in dict.fromkeys(used) if name not in number]


def _with_new(
    names: tuple[str, ...], number: dict[str, int], new: Sequence[str]
) -> tuple[tuple[str, ...], dict[str, int]]:
    """The names and places with those added that only the detections have."""
    added = [name for name in dict.fromkeys(new) if name not in number and name not in names]
    places = {name: len(names) + place for place, name in enumerate(added)}
    return (*names, *added), number | places


def _boxes(raw: RawBoxes, image_of: Mapping[str, int], label_of: Mapping[str, int]) -> Boxes:
    try:
        return Boxes.of(
            [image_of[name] for name in raw.image],
            [label_of[name] for name in raw.label],
            raw.xyxy,
            raw.score,
            raw.crowd,
        )
    except ValueError as error:
        raise UserError(f"{raw.source}: {error}") from error
