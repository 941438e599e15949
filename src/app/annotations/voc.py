"""Pascal VOC: an XML file of objects for each image, and its results, a text file a class.

A box holds its first and last pixel, and the challenge counts them from 1: xmin 1 and xmax 10 are x from 0 to
10. Tools that count from 0 write the pixel after the last; their boxes stand as they are (``first_pixel=0``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from app.annotations.annotation_set import AnnotationSet, Reals, StatedImage, numbered, scores_of
from app.annotations.class_names import spelling_notes
from app.annotations.content import by_stem, listed, read_bytes, read_text
from app.annotations.xml_tree import Element, parse
from app.errors import UserError

MAX_BYTES = 16 * 2**20
"""Largest XML file: one holds a single image."""
_SET_NAMES = ("train", "val", "trainval", "test")
_YES, _NO = ("1", "true", "yes"), ("", "0", "false", "no", "unspecified")


def read_voc(folder: Path, *, first_pixel: int = 1, strict: bool = True) -> AnnotationSet:
    """The boxes of a folder of XML files, one an image. Objects that are marked ``difficult`` are ignored ones.

    Classes are those that occur, images are called by the paths of their XML files without ending.

    Args:
        folder: the folder; its subfolders are read, too.
        first_pixel: what the first pixel is called, 1 or 0.
        strict: ground truth, or detections, which have a ``score``.

    Raises:
        UserError: malformed XML, one that declares entities, or an object without name or box.
    """
    found = listed(folder, {".xml"})
    texts = by_stem(found.files, folder)
    images: list[StatedImage] = []
    image: list[int] = []
    names: list[str] = []
    boxes: list[list[float]] = []
    scores: list[float | None] = []
    difficult: list[bool] = []
    places: list[str] = []
    for stem, file_name in texts.items():
        file = folder / file_name
        root = parse(read_bytes(file, MAX_BYTES), str(file))
        if root.tag != "annotation":
            raise UserError(f"{file} line {root.line}: the root must be <annotation>, not <{root.tag[:40]}>")
        stated = root.first("filename")
        name = "" if stated is None else stated.text.strip()
        for element in root.all("object"):
            where = f"{file} line {element.line}"
            image.append(len(images))
            names.append(_text(element, "name", where))
            boxes.append(_bounds(element, file, where))
            scores.append(_number(element, "score", where) if element.first("score") else None)
            difficult.append(_marked(element, where))
            places.append(where)
        images.append(StatedImage(stem, str(file), name or None, _size(root, str(file))))
    _refuse_repeated(images)
    class_names, label = numbered(names)
    where_ = places.__getitem__
    corners, notes = _counted(boxes, first_pixel, where_, strict=strict)
    return AnnotationSet(
        source=folder,
        form="Pascal VOC XML",
        images=tuple(images),
        class_names=class_names,
        image=np.array(image, dtype=np.int64),
        label=label,
        xyxy=corners,
        where=where_,
        score=scores_of(scores, where_, strict=strict),
        ignored=np.array(difficult, dtype=np.bool_) if any(difficult) else None,
        notes=(*found.notes, *notes, *spelling_notes(class_names, folder)),
    )


def read_voc_results(files: Sequence[Path], *, first_pixel: int = 1, strict: bool = False) -> AnnotationSet:
    """Detections in Pascal VOC's form: ``image score x1 y1 x2 y2`` a line, the class ends the file's name.

    Args:
        files: files such as ``comp4_det_test_dog.txt``.
        first_pixel: what the first pixel is called, 1 or 0.
        strict: ground truth, which this form cannot be.

    Raises:
        UserError: a line that is not like that.
    """
    image: list[str] = []
    names: list[str] = []
    rows: list[list[float]] = []
    places: list[tuple[Path, int]] = []

    def where(i: int) -> str:
        return f"{places[i][0]} line {places[i][1]}"

    for path in files:
        name = _class_of(path)
        for number, line in enumerate(read_text(path).splitlines(), start=1):
            words = line.split()
            if not words:
                continue
            places.append((path, number))
            try:
                values = [float(word) for word in words[1:]]
            except ValueError:
                values = []
            if len(values) != 5 or not all(map(math.isfinite, values)):
                raise UserError(
                    f"{where(-1)} must hold an image and five finite numbers, not {line.strip()[:80]!r}"
                )
            image.append(words[0])
            names.append(name)
            rows.append(values)
    images, position = numbered(image)
    class_names, label = numbered(names, [_class_of(path) for path in files])
    corners, notes = _counted([row[1:] for row in rows], first_pixel, where, strict=strict)
    return AnnotationSet(
        source=files[0].parent,
        form="Pascal VOC results",
        images=tuple(StatedImage(each, str(files[0].parent)) for each in images),
        class_names=class_names,
        image=position,
        label=label,
        xyxy=corners,
        where=where,
        score=scores_of([row[0] for row in rows], where, strict=strict),
        notes=notes,
    )


def looks_like_results(path: Path) -> bool:
    """Whether a text file is named like VOC's results and its first line has six words.

    YOLO's detections also have six, in files named like images.
    """
    if "_det_" not in path.stem:
        return False
    lines = (line.split() for line in read_text(path).splitlines())
    return len(next((words for words in lines if words), [])) == 6


def _class_of(path: Path) -> str:
    """The class in ``comp4_det_test_traffic_light.txt``; after an unknown set of images, the last word."""
    subset, _, name = path.stem.partition("_det_")[2].partition("_")
    return name if subset in _SET_NAMES and name else path.stem.rpartition("_")[2]


def _counted(
    boxes: Sequence[Sequence[float]], first_pixel: int, where: Callable[[int], str], *, strict: bool
) -> tuple[Reals, tuple[str, ...]]:
    """(D, 4): boxes from pixel 0 on, and a note where they rather seem to be counted from 0.

    Raises:
        UserError: a maximum before its minimum or, of ground truth, no area.
    """
    if first_pixel not in (0, 1):
        raise UserError(f"first_pixel must be 0 or 1, not {first_pixel!r}")
    stated = np.array(boxes, dtype=np.float64).reshape(-1, 4)
    corners = stated - [first_pixel, first_pixel, 0, 0]
    reversed_ = (stated[:, 2:] < stated[:, :2]).any(axis=1)
    empty = (corners[:, 2:] <= corners[:, :2]).any(axis=1) & strict
    for bad, why in (
        (reversed_, "has its maximum before its minimum"),
        (empty, "has no area: with first_pixel=0 its maximum is the pixel after its last"),
    ):
        if bad.any():
            i = int(np.argmax(bad))
            shown = " ".join(f"{value:g}" for value in stated[i])
            raise UserError(f"{where(i)}: box {shown} {why}")
    before = np.flatnonzero((stated[:, :2] < first_pixel).any(axis=1) & bool(first_pixel))
    if not before.size:
        return corners, ()
    many = f"box begins at 0 ({where(int(before[0]))})"
    if len(before) > 1:
        many = f"boxes begin at 0 (such as {where(int(before[0]))})"
    return corners, (
        f"{len(before)} {many}, but pixels are counted from 1: if the tool counts from 0, give first_pixel=0",
    )


def _bounds(element: Element, file: Path, where: str) -> list[float]:
    bounds = element.first("bndbox")
    if bounds is None:
        raise UserError(f"{where}: <object> has no <bndbox>")
    at = f"{file} line {bounds.line}"
    return [_number(bounds, tag, at) for tag in ("xmin", "ymin", "xmax", "ymax")]


def _marked(element: Element, where: str) -> bool:
    """Whether an object is marked difficult."""
    mark = element.first("difficult")
    text = "" if mark is None else mark.text.strip().lower()
    if text in _NO:
        return False
    if text in _YES:
        return True
    raise UserError(f"{where}: <difficult> must be 0 or 1, not {text[:40]!r}")


def _size(root: Element, file: str) -> tuple[int, int] | None:
    """Width and height; None where they are not stated or, as some tools write, 0."""
    size = root.first("size")
    if size is None:
        return None
    width, height = (_number(size, tag, f"{file} line {size.line}") for tag in ("width", "height"))
    return (int(width), int(height)) if width > 0 and height > 0 else None


def _number(parent: Element, tag: str, where: str) -> float:
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


def _refuse_repeated(images: Sequence[StatedImage]) -> None:
    """Two files of one folder that state the same image contradict each other."""
    seen: dict[tuple[str, str], str] = {}
    for each in images:
        if each.file is not None:
            key = each.name.rpartition("/")[0], each.file
            if key in seen:
                raise UserError(f"{each.where}: picture {each.file} was already named by {seen[key]}")
            seen[key] = each.where
