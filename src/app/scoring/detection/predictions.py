"""Files prediction_{t}.json: the detections of one image in one repetition, in the DeepLUQ form.

``{id: {"box": [x1, y1, x2, y2], "label": int, "score": float, "logit": [float, …]}, …}``; the order counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from app.detections import DetectionLog, Detections, find_fault
from app.errors import UserError
from app.scoring.detection.rows import bad_row

_FILE = re.compile(r"prediction_(\d+)\.json")
_FIELDS = ("box", "label", "score", "logit")
_Arrays = tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]


def repetition_files(folder: Path, repetitions: int | None) -> list[Path]:
    """The files of a folder, prediction_0 to prediction_{T-1}.

    Raises:
        UserError: When the folder or one of the files is missing; it names the first missing file.
    """
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder of predictions")
    found = {int(told.group(1)) for entry in folder.iterdir() if (told := _FILE.fullmatch(entry.name))}
    total = (max(found, default=-1) + 1) if repetitions is None else repetitions
    missing = next((t for t in range(total) if t not in found), None)
    if not total or missing is not None:
        name = folder / f"prediction_{missing or 0}.json"
        raise UserError(
            f"{name}: this repetition is missing; a folder holds prediction_0.json and so on, without gaps"
        )
    return [folder / f"prediction_{t}.json" for t in range(total)]


def read_folders(
    images: Sequence[str],
    folders: Sequence[Path],
    *,
    repetitions: int | None = None,
    semantics: str = "softmax_background",
    probabilities: bool = False,
) -> DetectionLog:
    """The log of one folder an image.

    Raises:
        UserError: Naming the file and object that is missing, malformed or cannot be scored.
    """
    files = [repetition_files(folder, repetitions) for folder in folders]
    parts: list[_Arrays] = []
    sizes: list[int] = []
    width = 0
    for paths in files:
        arrays, counts = _read_folder(paths, semantics if probabilities else None)
        sizes += counts
        if not sum(counts):
            continue
        if parts and arrays[3].shape[1] != width:
            _explain(paths, width)
        width = arrays[3].shape[1]
        parts.append(arrays)
    if not parts:
        parts = [_arrays([])]
    boxes, labels, scores, probs = (np.concatenate(column) for column in zip(*parts, strict=True))
    return DetectionLog(
        images=tuple(images),
        repetitions=np.array([len(paths) for paths in files], dtype=np.int64),
        offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        boxes=boxes,
        labels=labels,
        scores=scores,
        probs=probs,
        semantics=semantics,
    )


def _read_folder(paths: Sequence[Path], semantics: str | None) -> tuple[_Arrays, list[int]]:
    """Boxes, labels, scores and class rows of one image's files, and how many each file has.

    Class rows are checked where their semantics are given.
    """
    parsed = [_parse(path) for path in paths]
    sizes = [len(objects) for objects in parsed]
    try:
        arrays = _arrays([item for objects in parsed for item in objects.values()])
        fault = find_fault(*arrays)
    except (KeyError, TypeError, ValueError, OverflowError):
        _explain(paths)
    bad = None if fault is None else (fault.index, fault.sentence)
    if bad is None and semantics is not None:
        bad = bad_row(arrays[3], semantics)
    if bad is None:
        return arrays, sizes
    ends = np.cumsum(sizes)
    file = int(np.searchsorted(ends, bad[0], side="right"))
    name = list(parsed[file])[bad[0] - int(ends[file]) + sizes[file]]
    raise UserError(f"{paths[file]}: object {name!r}: {bad[1]}")


def _parse(path: Path) -> dict[str, Any]:
    try:
        objects = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise UserError(f"{path}: this repetition is missing") from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: malformed JSON: {error}") from error
    if not isinstance(objects, dict):
        raise UserError(f"{path}: holds a {type(objects).__name__}; an object of detections by id is allowed")
    return objects


def _arrays(items: Sequence[Mapping[str, Any]]) -> _Arrays:
    """Boxes, labels, scores and class rows of parsed detections; raises on anything unusual."""
    rows = [item["logit"] for item in items]
    boxes = _table([item["box"] for item in items], 4)
    probs = _table(rows, len(rows[0]) if rows else 0)
    labels, scores = _table([[item["label"], item["score"]] for item in items], 2).T
    if not ((labels == np.floor(labels)) & (np.abs(labels) < 2**31)).all():
        raise ValueError("labels that are not whole")
    return boxes, labels.astype(np.int64), scores.copy(), probs


def _table(rows: Sequence[Any], width: int) -> NDArray[np.float64]:
    if any(type(row) is not list or len(row) != width for row in rows):
        raise ValueError(f"rows that are no lists of {width}")
    flat = list(chain.from_iterable(rows))  # one flat pass is twice as fast as an array of lists
    if not {type(value) for value in flat} <= {float, int}:
        raise TypeError("rows that hold more than numbers")
    return np.array(flat, dtype=np.float64).reshape(len(rows), width)


def _explain(paths: Sequence[Path], width: int | None = None) -> NoReturn:
    """Raise the sentence about the first object that is out of form, or has no class row of `width` numbers."""
    for path in paths:
        objects = _parse(path)
        for name, item in objects.items():
            sentence = _complaint(item, width)
            if sentence:
                raise UserError(f"{path}: object {name!r}: {sentence}")
            width = len(item["logit"])
    raise UserError(f"{paths[0].parent}: the predictions hold something other than numbers")


def _complaint(item: Any, width: int | None) -> str:
    if not isinstance(item, dict):
        return f"is a {type(item).__name__}; an object with {', '.join(_FIELDS)} is allowed"
    missing = [field for field in _FIELDS if field not in item]
    if missing:
        return f"has no {missing[0]!r}; {', '.join(_FIELDS)} are needed"
    for field, length in (("box", 4), ("logit", width)):
        value = item[field]
        if not isinstance(value, list) or not all(_is_number(part) for part in value):
            return f"its {field!r} is not a list of numbers"
        if length is not None and len(value) != length:
            return (
                f"its {field!r} has {len(value)} numbers; {length} are allowed, as in the objects before it"
            )
    for field in ("score", "label"):
        if not _is_number(item[field]):
            return f"its {field!r} is not a number"
    return "" if float(item["label"]).is_integer() else "its 'label' is not a whole number"


def _is_number(value: Any) -> bool:
    return isinstance(value, float) or (type(value) is int and abs(value) < 2**31)


def write_folder(folder: Path, repetitions: Sequence[Detections]) -> None:
    """Write the files of one image, one a repetition; objects are named `label_0` and so on."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, detections in enumerate(repetitions):
        text = json.dumps(as_objects(detections))
        (folder / f"prediction_{number}.json").write_text(text, encoding="utf-8")


def as_objects(detections: Detections) -> dict[str, dict[str, Any]]:
    """Detections in the form of the files, every number to its last bit."""
    columns = zip(
        detections.boxes.astype(np.float64).tolist(),
        detections.labels.tolist(),
        detections.scores.astype(np.float64).tolist(),
        detections.probs.astype(np.float64).tolist(),
        strict=True,
    )
    return {f"label_{index}": dict(zip(_FIELDS, row, strict=True)) for index, row in enumerate(columns)}
