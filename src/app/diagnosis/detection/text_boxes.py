"""Boxes in text files: YOLO's, one file an image, and Pascal VOC's results, one file a class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from app.diagnosis.detection.raw import RawBoxes
from app.errors import UserError

NAMES_FILE = "classes.txt"
"""One class name a line, beside YOLO's text files or above them."""


def read_yolo(
    folder: Path,
    class_names: Sequence[str] | None = None,
    image_sizes: Mapping[str, tuple[float, float]] | None = None,
) -> RawBoxes:
    """Boxes of a folder of YOLO text files, named like their images.

    Each line is ``class x y width height`` with the centre and sides in fractions of the image, and a sixth
    number, the score, in detections. An empty file is an image without boxes.

    Args:
        folder: the folder.
        class_names: names of the classes; by default those of ``classes.txt`` in the folder or above it, else
            the numbers.
        image_sizes: width and height in pixels by image name (without ending). With them boxes are in pixels;
            without, in fractions, which changes no IoU, but sizes mean nothing.

    Raises:
        UserError: if a line is none of these, or a size is missing.
    """
    files = [path for path in sorted(folder.glob("*.txt")) if path.name != NAMES_FILE]
    names = tuple(class_names) if class_names is not None else _names(folder)
    image: list[str] = []
    label: list[str] = []
    rows: list[list[float]] = []
    widths = set()
    for path in files:
        for number, line in enumerate(_lines(path), start=1):
            values = _numbers(path, number, line.split(), (5, 6))
            if values[0] != int(values[0]) or values[0] < 0 or (names and values[0] >= len(names)):
                allowed = f"0..{len(names) - 1}" if names else "a whole number from 0 on"
                raise UserError(f"{path}: line {number} has class {values[0]:g}; {allowed} is allowed")
            if min(values[3:5]) < 0 or (image_sizes is None and max(values[1:5]) > 1.5):
                raise UserError(
                    f"{path}: line {number}: x, y, width and height must be fractions of the image, not "
                    f"{values[1:5]}"
                )
            widths.add(len(values))
            image.append(path.stem)
            label.append(names[int(values[0])] if names else str(int(values[0])))
            rows.append(_pixels(path, values, image_sizes))
    if len(widths) > 1:
        raise UserError(f"{folder}: some lines have a score and some have none; all or none is allowed")
    array = np.array(rows).reshape(len(rows), -1)
    boxes = array[:, 1:5] if rows else np.zeros((0, 4))
    return RawBoxes(
        source=folder,
        image=image,
        label=label,
        xyxy=np.hstack([boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2]),
        score=array[:, 5].tolist() if widths == {6} else None if rows else [],
        images=[path.stem for path in files],
        class_names=names,
        class_aliases={str(number): name for number, name in enumerate(names)},
        pixels=image_sizes is not None,
        form="YOLO text",
        class_by_id=not names,
    )


def read_voc_results(files: Sequence[Path]) -> RawBoxes:
    """Detections in Pascal VOC's form: ``image score x1 y1 x2 y2`` a line, the class ends the file's name.

    VOC counts pixels from 1 and includes the last one; here boxes start at 0 and end after it.

    Args:
        files: files such as ``comp4_det_test_dog.txt``.

    Raises:
        UserError: if a line is not like that.
    """
    image: list[str] = []
    label: list[str] = []
    rows: list[list[float]] = []
    for path in files:
        for number, line in enumerate(_lines(path), start=1):
            words = line.split()
            rows.append(_numbers(path, number, words[1:], (5,)))
            image.append(words[0])
            label.append(path.stem.split("_")[-1])
    array = np.array(rows).reshape(len(rows), 5)
    return RawBoxes(
        source=files[0].parent,
        image=image,
        label=label,
        xyxy=array[:, 1:] - [1.0, 1.0, 0.0, 0.0],
        score=array[:, 0].tolist(),
        class_names=[path.stem.split("_")[-1] for path in files],
        form="Pascal VOC results",
    )


def looks_like_voc_results(path: Path) -> bool:
    """Whether the first line of a text file has six words of which the second is a score.

    YOLO's detections also have six; there the second is a centre and the first the number of a class.
    """
    words = next(iter(_lines(path)), "").split()
    return "_det_" in path.stem and len(words) == 6


def _lines(path: Path) -> list[str]:
    try:
        return [line for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not a readable text file: {error}") from error


def _numbers(path: Path, number: int, words: Sequence[str], counts: tuple[int, ...]) -> list[float]:
    try:
        values = [float(word) for word in words]
    except ValueError:
        values = []
    if len(values) not in counts or not np.isfinite(values).all():
        wanted = " or ".join(map(str, counts))
        raise UserError(f"{path}: line {number} must hold {wanted} finite numbers, not {' '.join(words)!r}")
    return values


def _pixels(
    path: Path, values: list[float], image_sizes: Mapping[str, tuple[float, float]] | None
) -> list[float]:
    if image_sizes is None:
        return values
    if path.stem not in image_sizes:
        raise UserError(f"{path}: the size of image {path.stem!r} is not known; give one for every image")
    width, height = image_sizes[path.stem]
    return [
        values[0],
        values[1] * width,
        values[2] * height,
        values[3] * width,
        values[4] * height,
        *values[5:],
    ]


def _names(folder: Path) -> tuple[str, ...]:
    for path in (folder / NAMES_FILE, folder.parent / NAMES_FILE):
        if path.is_file():
            return tuple(line.strip() for line in _lines(path))
    return ()
