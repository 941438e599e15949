"""COCO: one JSON file with the objects of all pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from app.annotations import read_coco
from app.errors import UserError
from app.images import USUAL, Decoding
from app.limits import File, Folder, NotNegative, Positive
from app.subjects.detection.annotations import (
    PictureFile,
    collect,
    folder,
    inside,
    without_background,
)
from app.subjects.detection.dataset import DetectionDataset
from app.subjects.files import Progress


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
    stated = read_coco(file)
    pictures: list[PictureFile] = []
    for i, image in enumerate(stated.images):
        if image.file is None:
            raise UserError(f"{image.where}: file_name must be a text, not None")
        path = inside(top, image.file, image.where)
        pictures.append(PictureFile(path, path.relative_to(top).as_posix(), image.where, i))
    used = np.bincount(stated.label, minlength=len(stated.class_names)) > 0
    class_names = without_background(stated.class_names, used)
    notes: tuple[str, ...] = ()
    if class_names != stated.class_names:
        notes = (f"{file}: the category {stated.class_names[0]!r} is no class and has no box: left out",)
    return collect(
        pictures,
        stated,
        name or file.stem.replace("@", "_"),
        class_names,
        max_samples=max_samples,
        seed=seed,
        workers=workers,
        progress=progress,
        decoding=decoding,
        notes=notes,
    )
