"""YOLO: a folder of pictures and a text file of objects for each."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path

from app.errors import UserError
from app.images import SUFFIXES, USUAL, Decoding
from app.limits import Folder, NotNegative, Positive
from app.subjects.dataset import check_class_names
from app.subjects.detection.annotations import (
    AnnotatedPicture,
    Annotation,
    collect,
    folder,
    read_text,
)
from app.subjects.detection.dataset import DetectionDataset
from app.subjects.files import Progress
from app.tables import read_class_names

_CLASSES = "classes.txt"
"""Where labelling tools leave the class names, one a line."""
_MOST_CLASSES = 100_000


def yolo(
    images: Folder | Path,
    labels: Folder | Path,
    *,
    class_names: str | Sequence[str] | None = None,
    max_samples: Positive | None = None,
    seed: NotNegative = 0,
    name: str | None = None,
    workers: Positive | None = None,
    progress: Progress | None = None,
    decoding: Decoding = USUAL,
) -> DetectionDataset:
    """The data set in YOLO's text files: a line is ``class x y width height``, centre and size in shares.

    ``labels/a/b.txt`` belongs to ``images/a/b.jpg`` (or another ending of a picture); shares are of the
    picture's real size. A picture without a file, or with an empty one, shows no object. Pictures are in the
    order of their paths.

    Args:
        images: the folder of pictures.
        labels: the folder of text files; may be the same.
        class_names: what the numbers mean (or a file); None reads ``classes.txt`` in `labels`, or leaves them numbers.
        max_samples: keep so many pictures.
        seed: of the draw.
        name: None takes the name of the folder of pictures.
        workers: threads that decode; None takes one a core, at most 8.
        progress: is told how many files are done.
        decoding: what the formats of files leave open: which sample is white, what transparency is laid on.

    Raises:
        UserError: a malformed line, a missing picture, a box without area or outside its picture, or an
            unknown class.
    """
    pictures_in, labels_in = folder(images, "images"), folder(labels, "labels")
    files = _listed(pictures_in, SUFFIXES)
    if not files:
        raise UserError(f"dataset.images {pictures_in} holds no picture")
    texts = _listed(labels_in, {".txt"})
    if class_names is None and _CLASSES in texts and (labels_in / _CLASSES).is_file():
        class_names = str(labels_in / _CLASSES)
    names = None if class_names is None else read_class_names(class_names, "dataset.class_names")
    if names is not None:
        check_class_names(names)
    picture_of = _paired(files, texts, pictures_in, labels_in)
    found = {stem: _annotations(labels_in / text, names) for stem, text in picture_of.items()}
    pictures = [
        AnnotatedPicture(
            pictures_in / file,
            file,
            str(labels_in / picture_of[_stem(file)])
            if _stem(file) in picture_of
            else str(pictures_in / file),
            found.get(_stem(file), ()),
            relative=True,
        )
        for file in files
    ]
    if names is None:
        highest = max((each.label for listed in found.values() for each in listed), default=0)
        shown: tuple[str, ...] = tuple(str(i) for i in range(highest + 1))
    else:
        shown = names
    bare = sum(_stem(file) not in picture_of for file in files)
    notes = (f"{bare} of {len(files)} pictures have no file of labels: they show no object",) if bare else ()
    return collect(
        pictures,
        name or pictures_in.resolve().name.replace("@", "_"),
        shown,
        named=names is not None,
        max_samples=max_samples,
        seed=seed,
        workers=workers,
        progress=progress,
        decoding=decoding,
        notes=notes,
    )


def _listed(top: Path, suffixes: frozenset[str] | set[str]) -> list[str]:
    """Paths of files with such endings below a folder, relative to it, by name; none that lead out of it."""
    inside = top.resolve()
    found: list[str] = []
    for at, subfolders, entries in os.walk(top):
        subfolders[:] = [each for each in subfolders if not each.startswith(".")]
        for entry in entries:
            path = Path(at) / entry
            hidden = entry.startswith(".") or path.suffix.lower() not in suffixes
            if not hidden and path.resolve().is_relative_to(inside):
                found.append(path.relative_to(top).as_posix())
    return sorted(found)


def _paired(files: Sequence[str], texts: Sequence[str], pictures_in: Path, labels_in: Path) -> dict[str, str]:
    """The text file of each picture that has one, by the picture's path without its ending."""
    pictures: dict[str, str] = {}
    for file in files:
        if _stem(file) in pictures:
            raise UserError(
                f"{pictures_in} holds {pictures[_stem(file)]} and {file}, which would share one file of labels"
            )
        pictures[_stem(file)] = file
    stems = {_stem(text): text for text in texts}
    orphans = [text for stem, text in stems.items() if stem not in pictures and text != _CLASSES]
    if orphans:
        more = f", and {len(orphans) - 1} more" if len(orphans) > 1 else ""
        raise UserError(f"{labels_in / orphans[0]}: its picture does not exist in {pictures_in}{more}")
    paired = {stem: text for stem, text in stems.items() if stem in pictures}
    if not paired:
        raise UserError(f"dataset.labels {labels_in} holds no file of labels for a picture in {pictures_in}")
    return paired


def _annotations(file: Path, names: tuple[str, ...] | None) -> tuple[Annotation, ...]:
    found: list[Annotation] = []
    for number, line in enumerate(read_text(file).splitlines(), start=1):
        if not line.strip():
            continue
        where, fields = f"{file} line {number}", line.split()
        if len(fields) != 5:
            raise UserError(
                f"{where} has {len(fields)} values; class, x, y, width and height are allowed, "
                "outlines and scores are not"
            )
        try:
            x, y, width, height = map(float, fields[1:])
            label = int(fields[0])
        except ValueError:
            raise UserError(
                f"{where} must be an integer and four numbers, not {line.strip()[:80]!r}"
            ) from None
        if not all(map(math.isfinite, (x, y, width, height))):
            raise UserError(f"{where}: box {' '.join(fields[1:])} is not finite")
        if label < 0 or label >= (_MOST_CLASSES if names is None else len(names)):
            allowed = f"0..{(_MOST_CLASSES if names is None else len(names)) - 1}"
            raise UserError(f"{where} has the class {label}, which is unknown; {allowed} are allowed")
        if max(abs(x), abs(y), width, height) > 2:
            raise UserError(f"{where}: box {' '.join(fields[1:])} must be in shares of the picture, 0 to 1")
        box = (x - width / 2, y - height / 2, x + width / 2, y + height / 2)
        found.append(Annotation(box, label, where))
    return tuple(found)


def _stem(path: str) -> str:
    return path.rpartition(".")[0]
