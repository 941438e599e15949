"""Pascal VOC: an XML file of objects for each picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from app.errors import UserError
from app.images import USUAL, Decoding
from app.limits import Folder, NotNegative, Positive
from app.subjects.dataset import check_class_names
from app.subjects.detection.annotations import (
    AnnotatedPicture,
    Annotation,
    Box,
    collect,
    folder,
    inside,
    label_of,
    read_text,
)
from app.subjects.detection.dataset import DetectionDataset
from app.subjects.detection.xml_tree import Element, parse
from app.subjects.files import Progress
from app.tables import read_class_names


@dataclass(frozen=True)
class _Stated:
    """An object before the classes are known."""

    box: Box
    class_name: str
    where: str
    difficult: bool


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
        images: the folder of pictures that ``filename`` is relative to.
        class_names: the classes in the order of their labels, a list or a file; None sorts those that occur by name.
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
    if first_pixel not in (0, 1):
        raise UserError(f"dataset.first_pixel must be 0 or 1, not {first_pixel!r}")
    stated_in, top = folder(annotations, "annotations"), folder(images, "images")
    files = sorted(
        path for path in stated_in.rglob("*.xml") if path.resolve().is_relative_to(stated_in.resolve())
    )
    if not files:
        raise UserError(f"dataset.annotations {stated_in} holds no .xml file")
    roots = {file: parse(read_text(file), str(file)) for file in files}
    stated = {file: _objects(root, file, first_pixel) for file, root in roots.items()}
    if class_names is None:
        names = tuple(sorted({each.class_name for listed in stated.values() for each in listed}))
        if not names:
            raise UserError(f"dataset.annotations {stated_in} holds no object: give dataset.class_names")
    else:
        names = read_class_names(class_names, "dataset.class_names")
        check_class_names(names)
    pictures = []
    for file, root in roots.items():
        found = tuple(
            Annotation(each.box, label_of(each.class_name, names, each.where), each.where, each.difficult)
            for each in stated[file]
        )
        path = inside(top, _text(root, "filename", str(file)), str(file))
        shown = path.relative_to(top).as_posix()
        pictures.append(AnnotatedPicture(path, shown, str(file), found, _size(root, file)))
    return collect(
        pictures,
        name or stated_in.resolve().name.replace("@", "_"),
        names,
        max_samples=max_samples,
        seed=seed,
        workers=workers,
        progress=progress,
        decoding=decoding,
    )


def _objects(root: Element, file: Path, first_pixel: int) -> list[_Stated]:
    if root.tag != "annotation":
        raise UserError(f"{file} line {root.line}: the root must be <annotation>, not <{root.tag}>")
    found = []
    for element in root.all("object"):
        where = f"{file} line {element.line}"
        bounds = element.first("bndbox")
        if bounds is None:
            raise UserError(f"{where}: <object> has no <bndbox>")
        x1, y1, x2, y2 = (_number(bounds, tag, file) for tag in ("xmin", "ymin", "xmax", "ymax"))
        if x2 < x1 or y2 < y1:
            raise UserError(f"{where}: box {x1:g} {y1:g} {x2:g} {y2:g} has its maximum before its minimum")
        difficult = element.first("difficult")
        marked = difficult is not None and difficult.text.strip() not in ("", "0")
        box = (x1 - first_pixel, y1 - first_pixel, x2, y2)
        found.append(_Stated(box, _text(element, "name", where), where, marked))
    return found


def _size(root: Element, file: Path) -> tuple[int, int] | None:
    """Width and height; None where they are not stated or, as some tools write, 0."""
    size = root.first("size")
    if size is None:
        return None
    width, height = (_number(size, tag, file) for tag in ("width", "height"))
    return (int(width), int(height)) if width > 0 and height > 0 else None


def _number(parent: Element, tag: str, file: Path) -> float:
    where = f"{file} line {parent.line}"
    text = _text(parent, tag, where)
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UserError(f"{where}: <{tag}> must be a finite number, not {text[:40]!r}")
    return value


def _text(parent: Element, tag: str, where: str) -> str:
    child = parent.first(tag)
    text = "" if child is None else child.text.strip()
    if not text:
        raise UserError(f"{where}: <{parent.tag}> has no <{tag}>")
    return text
