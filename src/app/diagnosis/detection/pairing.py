"""Ground truth and detections brought together: which images and classes of both are the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

import numpy as np

from app.annotations import AnnotationSet, StatedImage
from app.diagnosis.detection.boxes import Boxes, EvaluationSet, Indices
from app.errors import UserError

SHOWN = 3
"""So many names are shown in a message."""
_ENDINGS = {".jpg", ".jpeg", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm", ".pbm", ".pnm"}


def join(truth: AnnotationSet, found: AnnotationSet) -> EvaluationSet:
    """The evaluation set of a ground truth and detections.

    Args:
        truth: what is there. If it lists all its images and classes, the detections may name no others.
        found: what was found, with scores.

    Raises:
        UserError: if the detections have no scores, other units, or images or classes that cannot be.
    """
    if found.score is None and len(found):
        raise UserError(f"{found.source}: these boxes have no scores; detections need one each")
    if truth.relative != found.relative and len(truth) and len(found):
        raise UserError(
            f"{truth.source} and {found.source} measure boxes in different units (pixels and fractions of the "
            "image); give both in the same, or image sizes for the fractions"
        )
    images = [image.name for image in truth.images]
    image_at = ImageNames(truth).places(found)
    class_at = _class_places(truth, found)
    names = list(truth.class_names)
    notes = []
    for what, places, called, all_names in (
        ("images", image_at, [image.name for image in found.images], images),
        ("classes", class_at, list(found.class_names), names),
    ):
        used = np.bincount(found.image if what == "images" else found.label, minlength=len(called)) > 0
        new = [i for i, place in enumerate(places) if place < 0]
        places[new] = len(all_names) + np.arange(len(new))
        strange = [called[i] for i in new if used[i]]
        all_names += [called[i] for i in new]
        if not strange:
            continue
        shown = ", ".join(map(repr, strange[:SHOWN])) + (" and others" if len(strange) > SHOWN else "")
        sentence = f"{len(strange)} {what} of {found.source} are not in {truth.source}: {shown}"
        if truth.closed:
            raise UserError(f"{sentence}; it lists all {what}, and only those are allowed")
        notes.append(f"{sentence}; they are taken to hold nothing")
    return EvaluationSet(
        images=tuple(images),
        class_names=tuple(names),
        truth=Boxes.of(truth.image, truth.label, truth.xyxy, crowd=truth.is_ignored, stated_area=truth.area),
        found=Boxes.of(image_at[found.image], class_at[found.label], found.xyxy, found.score),
        pixels=not (truth if len(truth) else found).relative,
        notes=(*truth.notes, *found.notes, *notes),
        forms=(truth.form, found.form),
    )


class ImageNames:
    """Finds the images of a ground truth by what detections call them.

    In this order: COCO's number where detections give numbers, the name, the number, the path or file name with
    or without ending, the end of the path (``c.jpg`` for ``a/c.jpg``), and the path without folders in front.

    Args:
        truth: the ground truth.
    """

    def __init__(self, truth: AnnotationSet) -> None:
        self._source = truth.source
        self._images = truth.images
        self._ids = truth.image_ids
        self._names = {image.name: i for i, image in enumerate(truth.images)}
        self._whole: dict[str, list[int]] = {}
        self._ends: dict[str, list[int]] = {}
        for i, image in enumerate(truth.images):
            whole = dict.fromkeys(spelled for path in _paths(image) for spelled in _spelled(path))
            ends = dict.fromkeys(end for path in whole for end in _ends(path))
            for index, keys in ((self._whole, whole), (self._ends, ends)):
                for key in keys:
                    index.setdefault(key, []).append(i)

    def places(self, found: AnnotationSet) -> Indices:
        """(N,): the position of each image of the detections; -1 for one that is not there.

        Raises:
            UserError: a name that fits several images, or two names with different folders that fit one.
        """
        places = np.full(len(found.images), -1, dtype=np.int64)
        shortened: dict[int, str] = {}
        for i, image in enumerate(found.images):
            name = image.name
            place = self._direct(name, by_id=found.by_id)
            if place is None:
                place = self._shortened(name)
                if place is not None and shortened.setdefault(place, name) != name:
                    raise UserError(
                        f"{found.source}: images {shortened[place]!r} and {name!r} both fit "
                        f"{self._images[place].name!r} of {self._source}: give both the same paths"
                    )
            if place is not None:
                places[i] = place
        return places

    def _direct(self, name: str, *, by_id: bool) -> int | None:
        first, second = (self._ids, self._names) if by_id else (self._names, self._ids)
        if name in first or name in second:
            return first[name] if name in first else second[name]
        for index in (self._whole, self._ends):
            for spelled in _spelled(name):
                fitting = index.get(spelled, [])
                if len(fitting) > 1:
                    one, two = (self._images[i].name for i in fitting[:2])
                    raise UserError(
                        f"image {name!r} of the detections fits both {one!r} and {two!r} of {self._source}: "
                        "give more of its path"
                    )
                if fitting:
                    return fitting[0]
        return None

    def _shortened(self, name: str) -> int | None:
        """The image that is called like the end of a longer path."""
        for spelled in _spelled(name):
            for end in _ends(spelled):
                fitting = self._whole.get(end, [])
                if len(fitting) == 1:
                    return fitting[0]
        return None


def _paths(image: StatedImage) -> Sequence[str]:
    """What an image may be called: its name, its file, and its file beside its file of boxes."""
    if image.file is None:
        return (image.name,)
    folders = image.name.rpartition("/")[0]
    return (image.name, image.file, f"{folders}/{image.file}") if folders else (image.name, image.file)


def _spelled(path: str) -> tuple[str, ...]:
    """A path with forward slashes, and without the ending of an image."""
    path = path.replace("\\", "/")
    ending = PurePosixPath(path).suffix
    return (path, path[: -len(ending)]) if ending.lower() in _ENDINGS else (path,)


def _ends(path: str) -> list[str]:
    """The path without its first folder, without its first two and so on."""
    parts = path.split("/")
    return ["/".join(parts[i:]) for i in range(1, len(parts))]


def _class_places(truth: AnnotationSet, found: AnnotationSet) -> Indices:
    """(K,): the position of each class of the detections; -1 for one that is not there."""
    names: Mapping[str, int] = {name: i for i, name in enumerate(truth.class_names)}
    first, second = (truth.class_ids, names) if found.class_by_id else (names, truth.class_ids)
    return np.array([first.get(name, second.get(name, -1)) for name in found.class_names], dtype=np.int64)
