"""What a detector said about images, as ragged arrays: the seam between devices and the detector scores.

A `DetectionLog` holds every detection of one model (the original or one mutant) over N images and the
repetitions of each; `save` and `load` are its file form, one ``.npz`` a model.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app import array_files, durable
from app.errors import UserError

Reals = NDArray[np.floating[Any]]
Integers = NDArray[np.integer[Any]]

SEMANTICS = ("softmax_background", "sigmoid")
FORMAT = "assay.detections"
VERSION = 1


@dataclass(frozen=True)
class Fault:
    """The first bad detection of some arrays."""

    index: int
    """Its row."""
    sentence: str
    """What is wrong with it and what is allowed."""


def find_fault(boxes: Reals, labels: Integers, scores: Reals, probs: Reals) -> Fault | None:
    """The first detection that no profile can score, or None.

    Boxes must be finite with x2 >= x1 and y2 >= y1 (a box without area is allowed), scores and class rows
    finite, labels an index into the class row.
    """
    classes = probs.shape[1]
    checks = (
        (~np.isfinite(boxes).all(axis=1), "its box holds NaN or infinity; four finite numbers are allowed"),
        (boxes[:, 2] < boxes[:, 0], "its box has x2 < x1; boxes are [x1, y1, x2, y2] with x2 >= x1"),
        (boxes[:, 3] < boxes[:, 1], "its box has y2 < y1; boxes are [x1, y1, x2, y2] with y2 >= y1"),
        (~np.isfinite(scores), "its score is NaN or infinity; a finite number is allowed"),
        (~np.isfinite(probs).all(axis=1), "its class row holds NaN or infinity; finite numbers are allowed"),
        (
            (labels < 0) | (labels >= classes),
            f"its label is outside its class row; 0 to {classes - 1} is allowed",
        ),
    )
    firsts = [(int(np.argmax(bad)), sentence) for bad, sentence in checks if bad.any()]
    return Fault(*min(firsts, key=lambda fault: fault[0])) if firsts else None


def _check_arrays(boxes: Reals, labels: Integers, scores: Reals, probs: Reals) -> None:
    shapes = boxes.shape, labels.shape, scores.shape, probs.shape
    count = len(labels) if labels.ndim else -1
    if (
        boxes.shape != (count, 4)
        or labels.ndim != 1
        or scores.shape != (count,)
        or probs.ndim != 2
        or len(probs) != count
    ):
        raise ValueError(
            f"boxes, labels, scores, probs must be (K, 4), (K,), (K,), (K, C) arrays, not {shapes}"
        )
    if labels.dtype.kind not in "iu":
        raise ValueError(f"labels must be whole numbers, not {labels.dtype}")
    fault = find_fault(boxes, labels, scores, probs)
    if fault is not None:
        raise ValueError(f"detection {fault.index}: {fault.sentence}")


@dataclass(frozen=True)
class Detections:
    """The K detections of one image in one repetition; K may be 0."""

    boxes: Reals
    """(K, 4): x1, y1, x2, y2 in pixels."""
    labels: Integers
    """(K,): class of each, an index into its class row."""
    scores: Reals
    """(K,): confidence of each."""
    probs: Reals
    """(K, C): class row of each: what the detector said about every class."""

    def __post_init__(self) -> None:
        _check_arrays(self.boxes, self.labels, self.scores, self.probs)

    def __len__(self) -> int:
        return len(self.labels)

    @classmethod
    def none(cls, classes: int) -> Detections:
        """No detection at all, of a detector with `classes` classes."""
        return cls(np.zeros((0, 4)), np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros((0, classes)))


@dataclass(frozen=True)
class DetectionLog:
    """All detections of one model over N images, in the order image, repetition, detection.

    A *cell* is one (image, repetition); cells are numbered image by image.
    """

    images: tuple[str, ...]
    """N different image names."""
    repetitions: Integers
    """(N,): T of each image, at least 1."""
    offsets: Integers
    """(cells + 1,): the detections of cell c are rows offsets[c] to offsets[c + 1]."""
    boxes: Reals
    """(D, 4): x1, y1, x2, y2 in pixels."""
    labels: Integers
    """(D,): class of each."""
    scores: Reals
    """(D,): confidence of each."""
    probs: Reals
    """(D, C): class rows."""
    semantics: str = "softmax_background"
    """What a class row is: one distribution over the classes (`softmax_background`) or C yes-or-no
    probabilities (`sigmoid`)."""

    def __post_init__(self) -> None:
        if self.semantics not in SEMANTICS:
            raise ValueError(f"semantics must be one of {', '.join(SEMANTICS)}, not {self.semantics!r}")
        if len(set(self.images)) != len(self.images):
            raise ValueError("image names must differ from each other")
        if self.repetitions.shape != (len(self.images),) or (self.repetitions < 1).any():
            raise ValueError("repetitions must hold one number of at least 1 for every image")
        cells, offsets = int(self.repetitions.sum()), self.offsets
        if offsets.shape != (cells + 1,) or offsets[0] != 0 or (np.diff(offsets) < 0).any():
            raise ValueError(f"offsets must rise from 0 over {cells} cells, got shape {offsets.shape}")
        if offsets[-1] != len(self.labels):
            raise ValueError(f"offsets end at {offsets[-1]} but there are {len(self.labels)} detections")
        _check_arrays(self.boxes, self.labels, self.scores, self.probs)

    @classmethod
    def of(
        cls,
        images: Sequence[str],
        cells: Sequence[Sequence[Detections]],
        *,
        semantics: str = "softmax_background",
    ) -> DetectionLog:
        """The log of `cells[i][t]`, the detections of image i in repetition t.

        Raises:
            ValueError: When images and cells differ in number or class rows in length.
        """
        if len(images) != len(cells):
            raise ValueError(f"{len(images)} images but detections of {len(cells)}")
        flat = [detections for row in cells for detections in row]
        widths = {detections.probs.shape[1] for detections in flat if len(detections)}
        if len(widths) > 1:
            raise ValueError(f"class rows must all have one length, not {sorted(widths)}")
        width = widths.pop() if widths else max((d.probs.shape[1] for d in flat), default=0)
        filled = [detections for detections in flat if len(detections)] or [Detections.none(width)]
        return cls(
            images=tuple(images),
            repetitions=np.array([len(row) for row in cells], dtype=np.int64),
            offsets=np.concatenate([[0], np.cumsum([len(d) for d in flat], dtype=np.int64)]).astype(np.int64),
            boxes=np.concatenate([d.boxes for d in filled]),
            labels=np.concatenate([d.labels for d in filled]).astype(np.int64),
            scores=np.concatenate([d.scores for d in filled]),
            probs=np.concatenate([d.probs for d in filled]),
            semantics=semantics,
        )

    @property
    def classes(self) -> int:
        """C; 0 is possible in a log without any detection."""
        return int(self.probs.shape[1])

    @property
    def starts(self) -> Integers:
        """(N + 1,): the cells of image i are starts[i] to starts[i + 1]."""
        return np.concatenate([[0], np.cumsum(self.repetitions)]).astype(np.int64)

    @property
    def cell_of(self) -> Integers:
        """(D,): the cell of each detection."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def at(self, image: int, repetition: int) -> Detections:
        """The detections of one image (by position) in one repetition."""
        cell = int(self.starts[image]) + repetition
        rows = slice(int(self.offsets[cell]), int(self.offsets[cell + 1]))
        return Detections(self.boxes[rows], self.labels[rows], self.scores[rows], self.probs[rows])

    def __iter__(self) -> Iterator[tuple[str, list[Detections]]]:
        for image, name in enumerate(self.images):
            yield name, [self.at(image, repetition) for repetition in range(int(self.repetitions[image]))]

    def where(self, row: int) -> tuple[str, int, int]:
        """Image name, repetition and position in it of detection `row`."""
        cell = int(np.searchsorted(self.offsets, row, side="right")) - 1
        image = int(np.searchsorted(self.starts, cell, side="right")) - 1
        return self.images[image], cell - int(self.starts[image]), row - int(self.offsets[cell])

    def take(self, images: Sequence[str]) -> DetectionLog:
        """The same outcomes on some images only, in that order.

        Raises:
            UserError: When an image is not in the log.
        """
        if tuple(images) == self.images:
            return self
        position = {name: index for index, name in enumerate(self.images)}
        missing = [name for name in images if name not in position]
        if missing:
            raise UserError(
                f"image {missing[0]!r} has no detections here ({len(missing)} of {len(images)} missing)"
            )
        index = np.array([position[name] for name in images], dtype=np.int64)
        return self._cells(tuple(images), self.repetitions[index], self.starts[index])

    def first(self, repetitions: int) -> DetectionLog:
        """The first `repetitions` repetitions of every image.

        Raises:
            UserError: When an image has fewer.
        """
        if repetitions < 1:
            raise ValueError(f"repetitions must be at least 1, not {repetitions}")
        short = np.flatnonzero(self.repetitions < repetitions)
        if len(short):
            name, has = self.images[short[0]], self.repetitions[short[0]]
            raise UserError(f"image {name!r} has {has} repetitions; {repetitions} were asked for")
        return self._cells(
            self.images, np.full(len(self.images), repetitions, dtype=np.int64), self.starts[:-1]
        )

    def _cells(self, images: tuple[str, ...], repetitions: Integers, begins: Integers) -> DetectionLog:
        """The log of some images' first cells, which begin at `begins`."""
        cells = ranges(begins, repetitions)
        counts = np.diff(self.offsets)[cells]
        rows = ranges(self.offsets[cells], counts)
        return replace(
            self,
            images=images,
            repetitions=repetitions,
            offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            boxes=self.boxes[rows],
            labels=self.labels[rows],
            scores=self.scores[rows],
            probs=self.probs[rows],
        )


def ranges(begins: Integers, counts: Integers) -> Integers:
    """The numbers begins[i], begins[i] + 1, … (counts[i] of them), one i after another."""
    total = int(counts.sum())
    ends = np.cumsum(counts)
    return np.asarray(np.arange(total, dtype=np.int64) + np.repeat(begins - (ends - counts), counts))


def _narrow(values: Reals) -> Reals:
    """Float32 where that loses nothing, float64 otherwise."""
    with np.errstate(over="ignore"):
        small = values.astype(np.float32)
    return small if np.array_equal(small.astype(np.float64), values) else values.astype(np.float64)


def save(log: DetectionLog, path: Path) -> None:
    """Write a log as one ``.npz``; equal logs give equal bytes, and no number loses a bit."""
    header = {"format": FORMAT, "version": VERSION, "semantics": log.semantics, "images": list(log.images)}
    arrays: dict[str, Any] = {
        "header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8),
        "repetitions": log.repetitions.astype(np.int32),
        "offsets": log.offsets.astype(np.int64),
        "boxes": _narrow(log.boxes),
        "labels": log.labels.astype(np.int32),
        "scores": _narrow(log.scores),
        "probs": _narrow(log.probs),
    }
    durable.write(lambda file: np.savez(file, **arrays), path)


def load(path: Path) -> DetectionLog:
    """Read a log that `save` wrote.

    Raises:
        UserError: When the file is missing, is no such file, is newer than this program or is damaged.
    """
    try:
        arrays: Any = array_files.load(path)
        header = json.loads(arrays["header"].tobytes())
        if header.get("format") != FORMAT:
            raise UserError(f"{path}: not a file of saved detections ({FORMAT})")
        if header["version"] > VERSION:
            raise UserError(
                f"{path}: version {header['version']} of {FORMAT}; up to {VERSION} can be read here"
            )
        return DetectionLog(
            images=tuple(header["images"]),
            repetitions=arrays["repetitions"].astype(np.int64),
            offsets=arrays["offsets"],
            boxes=arrays["boxes"],
            labels=arrays["labels"].astype(np.int64),
            scores=arrays["scores"],
            probs=arrays["probs"],
            semantics=header["semantics"],
        )
    except FileNotFoundError as error:
        raise UserError(f"{path}: no such file of saved detections") from error
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise UserError(f"{path}: not a readable file of saved detections: {error}") from error
