"""Annotated pictures: what files state about pictures, checked against the pictures themselves.

`app.annotations` reads the files; here pictures are found and decoded once, and boxes must lie in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from app.annotations import AnnotationSet, placed
from app.annotations.placement import agreed_size
from app.errors import UserError
from app.images import USUAL, Decoding
from app.subjects.dataset import Excluded
from app.subjects.detection.dataset import DetectionDataset, Objects, drawn
from app.subjects.files import Checked, FileSource, Progress, check
from app.subjects.files import notes as how_read

_NO_CLASS = ("background", "__background__")
"""What categories are called that stand for nothing."""


@dataclass(frozen=True)
class PictureFile:
    """One picture of the data set."""

    file: Path
    """Where it should be."""
    shown: str
    """What it is called."""
    where: str
    """Which file and object names it, for messages."""
    image: int | None
    """Which of the stated images it is; None if nothing is stated about it."""


def collect(
    pictures: Sequence[PictureFile],
    stated: AnnotationSet,
    name: str,
    class_names: tuple[str, ...],
    *,
    max_samples: int | None = None,
    seed: int = 0,
    workers: int | None = None,
    progress: Progress | None = None,
    notes: tuple[str, ...] = (),
    decoding: Decoding = USUAL,
) -> DetectionDataset:
    """The data set of annotated pictures; a picture that cannot be decoded is left out and listed.

    Args:
        pictures: in the order of the test cases.
        stated: what is in them.
        name: of the data set.
        class_names: what the labels mean; all that are stated, and maybe more.
        max_samples: keep so many pictures, drawn before they are decoded.
        seed: of the draw.
        workers: threads that decode; None takes one a core, at most 8.
        progress: is told how many files are done.
        notes: remarks of the reader.
        decoding: what the formats of files leave open.

    Raises:
        UserError: a picture that is missing or there twice, none that can be decoded, another size than
            stated, or a box without area or outside its picture.
    """
    _refuse_missing(pictures)
    _refuse_repeated(pictures)
    chosen = [pictures[i] for i in drawn(len(pictures), max_samples, seed)]
    kept: list[tuple[PictureFile, Checked]] = []
    excluded: list[Excluded] = []
    files = [picture.file for picture in chosen]
    for picture, result in zip(chosen, check(files, decoding, workers, progress), strict=True):
        if isinstance(result, Checked):
            kept.append((picture, result))
        else:
            excluded.append(Excluded(picture.shown, result))
    if not kept:
        raise UserError(f"none of the {len(chosen)} pictures of {name} can be read: {_first(excluded)}")
    notes += how_read([(picture.shown, each) for picture, each in kept])
    objects, found = _objects(stated, kept, class_names)
    return DetectionDataset(
        name=name,
        class_names=class_names,
        objects=tuple(each[0] for each in objects),
        paths=tuple(picture.shown for picture, _ in kept),
        source=FileSource(tuple(picture.file.absolute() for picture, _ in kept), decoding),
        rows=np.arange(len(kept)),
        case_digests=np.frombuffer(b"".join(each.digest for _, each in kept), np.uint8).reshape(-1, 32),
        ignored=tuple(each[1] for each in objects),
        excluded=tuple(sorted(excluded, key=lambda each: each.path)),
        named=stated.named,
        notes=notes + found.notes,
    )


def folder(path: str | Path, key: str) -> Path:
    """An existing folder.

    Raises:
        UserError: there is none; the message calls it dataset.`key`.
    """
    found = Path(path).expanduser()
    if not found.is_dir():
        what = "is no folder" if found.exists() else "does not exist"
        raise UserError(f"dataset.{key} {found} {what}")
    return found


def inside(top: Path, file_name: str, where: str) -> Path:
    """The file of a stated name in a folder.

    Raises:
        UserError: the name leads out of the folder.
    """
    stated = PurePosixPath(file_name.replace("\\", "/"))
    safe = bool(stated.parts) and "\0" not in file_name and not Path(file_name).is_absolute()
    if safe and not stated.is_absolute() and ".." not in stated.parts:
        path = top.joinpath(*stated.parts)
        if path.resolve().is_relative_to(top.resolve()):
            return path
    raise UserError(f"{where} names the picture {file_name!r}, which does not lie in {top}")


def without_background(class_names: tuple[str, ...], used: NDArray[np.bool_]) -> tuple[str, ...]:
    """Class names without a first one that stands for the background, if no box has it.

    Detectors number their classes without it, so it would shift the labels of one that names no classes.

    Args:
        class_names: in the order of their labels.
        used: (K,) whether boxes have each.
    """
    if len(class_names) > 1 and class_names[0].lower() in _NO_CLASS and not used[0]:
        return class_names[1:]
    return class_names


def _refuse_missing(pictures: Sequence[PictureFile]) -> None:
    missing = [picture for picture in pictures if not picture.file.is_file()]
    if missing:
        more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise UserError(f"{missing[0].where}: picture {missing[0].file} does not exist{more}")


def _refuse_repeated(pictures: Sequence[PictureFile]) -> None:
    seen: dict[str, PictureFile] = {}
    for picture in pictures:
        if picture.shown in seen:
            raise UserError(
                f"{picture.where}: picture {picture.shown} was already named by {seen[picture.shown].where}"
            )
        seen[picture.shown] = picture


def _objects(
    stated: AnnotationSet, kept: Sequence[tuple[PictureFile, Checked]], class_names: tuple[str, ...]
) -> tuple[list[tuple[Objects, Objects]], AnnotationSet]:
    """What is to be found and what is ignored in each picture, and the set of these pictures."""
    chosen = [picture.image for picture, _ in kept if picture.image is not None]
    part = stated.of_images(chosen)
    about = [(picture, decoded.size) for picture, decoded in kept if picture.image is not None]
    images = [
        replace(image, file=picture.shown) for image, (picture, _) in zip(part.images, about, strict=True)
    ]
    sizes = [agreed_size(image, size) for image, (_, size) in zip(images, about, strict=True)]
    part = placed(replace(part, images=tuple(images)), sizes, strict=True)
    label = np.array([class_names.index(each) for each in part.class_names], dtype=np.int64)[part.label]
    ignored = part.is_ignored
    order = np.argsort(part.image, kind="stable")
    rows = iter(np.split(order, np.searchsorted(part.image[order], np.arange(1, len(images)))))

    def of(some: NDArray[np.int64]) -> Objects:
        return Objects(part.xyxy[some], label[some])

    objects = []
    for picture, _ in kept:
        own = next(rows) if picture.image is not None else order[:0]
        objects.append((of(own[~ignored[own]]), of(own[ignored[own]])))
    return objects, part


def _first(excluded: Sequence[Excluded]) -> str:
    return f"{excluded[0].path} {excluded[0].reason}"
