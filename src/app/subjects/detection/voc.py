"""Pascal VOC: an XML file of objects for each picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from app.annotations import AnnotationSet, StatedImage, read_voc
from app.errors import UserError
from app.images import SUFFIXES, USUAL, Decoding
from app.limits import Folder, NotNegative, Positive
from app.subjects.dataset import check_class_names
from app.subjects.detection.annotations import PictureFile, collect, folder, inside
from app.subjects.detection.dataset import DetectionDataset
from app.subjects.files import Progress
from app.tables import read_class_names


def voc(
    annotations: Folder | Path,
    images: Folder | Path,
    *,
    class_names: str | Sequence[str] | None = None,
    first_pixel: Literal[0, 1] = 1,
    max_samples: Positive | None = None,
    seed: NotNegative = 0,
    name: str | None = None,
    workers: Positive | None = None,
    progress: Progress | None = None,
    decoding: Decoding = USUAL,
) -> DetectionDataset:
    """The data set in Pascal VOC's XML files.

    A box holds its first and last pixel; with pixels counted from 1, as the challenge does, xmin 1 and xmax
    10 are x from 0 to 10. Objects marked ``difficult`` are ignored ones. Pictures are in the order of the XML
    files' names.

    Args:
        annotations: the folder of XML files.
        images: the folder of pictures that ``filename`` is relative to. Of XML files in subfolders the picture
            may be in the same subfolder; one without ``filename`` has the picture that is called like it.
        class_names: the classes in the order of their labels; None sorts those that occur by name.
        first_pixel: what the first pixel is called; 0 for tools that count from 0 and write the pixel after
            the last, so that boxes are taken as they stand.
        max_samples: keep so many pictures.
        seed: of the draw.
        name: None takes the name of the folder of XML files.
        workers: threads that decode; None takes one a core, at most 8.
        progress: is told how many files are done.
        decoding: what the formats of files leave open: which sample is white, what transparency is laid on.

    Raises:
        UserError: malformed XML or one that declares entities, a missing picture, a box without area or
            outside its picture, an unknown class, or a picture outside the folder.
    """
    stated_in, top = folder(annotations, "annotations"), folder(images, "images")
    stated = read_voc(stated_in, first_pixel=first_pixel)
    if not stated.images:
        raise UserError(f"dataset.annotations {stated_in} holds no .xml file")
    if class_names is None:
        names = tuple(sorted(stated.class_names))
        if not names:
            raise UserError(f"dataset.annotations {stated_in} holds no object: give dataset.class_names")
    else:
        names = read_class_names(class_names, "dataset.class_names")
        check_class_names(names)
        _refuse_unknown(stated, names)
    pictures: list[PictureFile] = []
    for i, image in enumerate(stated.images):
        path = _picture(image, top)
        pictures.append(PictureFile(path, path.relative_to(top).as_posix(), image.where, i))
    return collect(
        pictures,
        stated,
        name or stated_in.resolve().name.replace("@", "_"),
        names,
        max_samples=max_samples,
        seed=seed,
        workers=workers,
        progress=progress,
        decoding=decoding,
    )


def _picture(image: StatedImage, top: Path) -> Path:
    """The file of a picture: below `top` as its XML file is below its folder, or directly.

    Without a file name it is the one that is called like the XML file.
    """
    if image.file is None:
        path = inside(top, image.name, image.where)
        beside = sorted(path.parent.iterdir()) if path.parent.is_dir() else []
        found = [each for each in beside if each.stem == path.name and each.suffix.lower() in SUFFIXES]
        if len(found) != 1:
            what = f"{found[0].name} and {found[1].name} are both" if found else "no picture is"
            raise UserError(f"{image.where} has no <filename>, and {what} called like it in {path.parent}")
        return inside(top, found[0].relative_to(top).as_posix(), image.where)
    folders = image.name.rpartition("/")[0]
    path = inside(top, image.file, image.where)
    nested = inside(top, f"{folders}/{image.file}", image.where) if folders else path
    return nested if nested.is_file() else path


def _refuse_unknown(stated: AnnotationSet, names: Sequence[str]) -> None:
    strange = [k for k, each in enumerate(stated.class_names) if each not in names]
    if strange:
        first = int(np.flatnonzero(np.isin(stated.label, strange))[0])
        known = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
        raise UserError(
            f"{stated.where(first)} has the class {stated.class_names[stated.label[first]]!r}, which is unknown; "
            f"known are {known}"
        )
