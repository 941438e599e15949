"""Annotations: what files state about pictures, checked against the pictures themselves.

The readers of COCO, YOLO and Pascal VOC files end here: pictures are decoded once, boxes must lie in them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np

from app.errors import UserError
from app.images import USUAL, Decoding
from app.subjects.dataset import Excluded
from app.subjects.detection.dataset import DetectionDataset, Objects, drawn, objects_of
from app.subjects.files import Checked, FileSource, Progress, check
from app.subjects.files import notes as how_read

Box = tuple[float, float, float, float]
MAX_OVERHANG = 1.0
"""Pixels that a box may reach over the picture's edge and is cut: tools round, and some count from 1."""
_ROUNDING = 0.01
"""Pixels that are no overhang, but rounding of the file's decimals."""
MAX_BYTES = 2**30
"""Largest file of annotations that is read."""


@dataclass(frozen=True)
class Annotation:
    """One object as a file states it."""

    box: Box
    """x1, y1, x2, y2 in pixels, or in shares of width and height."""
    label: int
    """Its class."""
    where: str
    """File and line or object, for messages."""
    ignored: bool = False
    """Whether it need not be found: a crowd, or marked difficult."""


@dataclass(frozen=True)
class AnnotatedPicture:
    """One picture as a file states it."""

    file: Path
    """Where it should be."""
    shown: str
    """What it is called."""
    where: str
    """Which file and object names it, for messages."""
    annotations: tuple[Annotation, ...]
    """What is in it."""
    size: tuple[int, int] | None = None
    """Width and height as stated; None if they are not."""
    relative: bool = False
    """Whether boxes are in shares of width and height."""


def collect(
    pictures: Sequence[AnnotatedPicture],
    name: str,
    class_names: tuple[str, ...],
    *,
    named: bool = True,
    max_samples: int | None = None,
    seed: int = 0,
    workers: int | None = None,
    progress: Progress | None = None,
    decoding: Decoding = USUAL,
    notes: tuple[str, ...] = (),
) -> DetectionDataset:
    """The data set of annotated pictures; a picture that cannot be decoded is left out and listed.

    Args:
        pictures: in the order of the test cases.
        name: of the data set.
        class_names: what the labels mean.
        named: whether the class names were given.
        max_samples: keep so many pictures, drawn before they are decoded.
        seed: of the draw.
        workers: threads that decode; None takes one a core, at most 8.
        progress: is told how many files are done.
        decoding: what the formats of files leave open.
        notes: remarks of the reader.

    Raises:
        UserError: a picture that is missing or there twice, none that can be decoded, another size than
            stated, or a box without area or outside its picture.
    """
    _refuse_missing(pictures)
    _refuse_repeated(pictures)
    chosen = [pictures[i] for i in drawn(len(pictures), max_samples, seed)]
    kept: list[tuple[AnnotatedPicture, Checked]] = []
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
    objects, ignored, cut = [], [], 0
    for picture, decoded in kept:
        found, left, over = _objects(picture, decoded.size)
        objects.append(found)
        ignored.append(left)
        cut += over
    if cut:
        notes += (
            f"{cut} box{'es' * (cut != 1)} reached up to {MAX_OVERHANG:g} pixel over the edge: cut to the picture",
        )
    return DetectionDataset(
        name=name,
        class_names=class_names,
        objects=tuple(objects),
        paths=tuple(picture.shown for picture, _ in kept),
        source=FileSource(tuple(picture.file.absolute() for picture, _ in kept), decoding),
        rows=np.arange(len(kept)),
        case_digests=np.frombuffer(b"".join(each.digest for _, each in kept), np.uint8).reshape(-1, 32),
        ignored=tuple(ignored),
        excluded=tuple(sorted(excluded, key=lambda each: each.path)),
        named=named,
        notes=notes,
    )


def read_text(path: Path) -> str:
    """The text of a file of annotations.

    Raises:
        UserError: it is missing, too large, or not UTF-8.
    """
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise UserError(f"{path} is larger than {MAX_BYTES // 2**20} MiB: no annotations are")
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise UserError(f"{path} does not exist") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is no UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror or error})") from None


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


def label_of(name: str, class_names: Sequence[str], where: str) -> int:
    """The label of a class.

    Raises:
        UserError: an unknown class.
    """
    try:
        return class_names.index(name)
    except ValueError:
        known = ", ".join(class_names[:8]) + (
            f" and {len(class_names) - 8} more" if len(class_names) > 8 else ""
        )
        raise UserError(f"{where} has the class {name!r}, which is unknown; known are {known}") from None


def _refuse_missing(pictures: Sequence[AnnotatedPicture]) -> None:
    missing = [picture for picture in pictures if not picture.file.is_file()]
    if missing:
        more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise UserError(f"{missing[0].where}: picture {missing[0].file} does not exist{more}")


def _refuse_repeated(pictures: Sequence[AnnotatedPicture]) -> None:
    seen: dict[str, AnnotatedPicture] = {}
    for picture in pictures:
        if picture.shown in seen:
            raise UserError(
                f"{picture.where}: picture {picture.shown} was already named by {seen[picture.shown].where}"
            )
        seen[picture.shown] = picture


def _objects(picture: AnnotatedPicture, size: tuple[int, int]) -> tuple[Objects, Objects, int]:
    """What is to be found, what is ignored, and how many boxes were visibly cut."""
    if picture.size is not None and picture.size != size:
        stated, real = ("x".join(map(str, each)) for each in (picture.size, size))
        raise UserError(
            f"{picture.where}: {picture.shown} is {real} pixels (upright), but {stated} is stated: "
            "the annotations belong to another version of the picture"
        )
    found: list[tuple[Box, int]] = []
    left: list[tuple[Box, int]] = []
    cut = 0
    for each in picture.annotations:
        box, over = _in_pixels(each, size, picture)
        (left if each.ignored else found).append((box, each.label))
        cut += over > _ROUNDING
    return objects_of(found), objects_of(left), cut


def _in_pixels(annotation: Annotation, size: tuple[int, int], picture: AnnotatedPicture) -> tuple[Box, float]:
    """The box cut to the picture, and by how many pixels."""
    width, height = size
    x1, y1, x2, y2 = annotation.box
    if picture.relative:
        x1, y1, x2, y2 = x1 * width, y1 * height, x2 * width, y2 * height
    shown = f"[{x1:g}, {y1:g}, {x2:g}, {y2:g}]"
    if not all(map(math.isfinite, (x1, y1, x2, y2))):
        raise UserError(f"{annotation.where}: box {shown} is not finite")
    if x2 <= x1 or y2 <= y1:
        raise UserError(
            f"{annotation.where}: box {shown} has no area; [x1, y1, x2, y2] needs x2 > x1 and y2 > y1"
        )
    over = max(-x1, -y1, x2 - width, y2 - height, 0.0)
    box = max(x1, 0.0), max(y1, 0.0), min(x2, float(width)), min(y2, float(height))
    if over > MAX_OVERHANG + _ROUNDING or box[2] <= box[0] or box[3] <= box[1]:
        raise UserError(
            f"{annotation.where}: box {shown} lies outside {picture.shown}, which is {width}x{height} pixels"
        )
    return box, over


def _first(excluded: Sequence[Excluded]) -> str:
    return f"{excluded[0].path} {excluded[0].reason}"
